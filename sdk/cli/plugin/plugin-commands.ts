import { stat } from 'node:fs/promises'
import { getEtag, readHealth } from '@eyrie/client'
import { engineHealth, type InstalledVersion, type Plugin } from '@eyrie/contract'
import { describeCapabilities } from '@eyrie/contract/describe-capabilities'
import { describeSignature } from '@eyrie/contract/describe-signature'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import { confirm, isInteractive } from '../command/confirm.ts'
import { readLocalFile, writeLocalFile } from '../command/local-files.ts'
import {
  type Output,
  styled,
  type Terminal,
  writeJson,
  writeSuccess,
  writeTable,
} from '../command/terminal.ts'
import {
  connectEngine,
  connectToChangePlugins,
  ENGINE_OPTIONS,
  getEngineUrl,
} from '../engine/engine-access.ts'
import { INSTALL_OPTIONS, installPackage } from './install-package.ts'
import { packPlugin } from './plugin-archive.ts'
import { printGrants, printRequested } from './plugin-grant-report.ts'
import { printIsolation, printQuarantines, printRefusals } from './plugin-report.ts'

const LIST_HEADER = ['PLUGIN', 'VERSION', 'STATE', 'ORIGIN', 'SIGNATURE', 'LICENSE', 'ELEMENTS']

/**
 * Commands for plugins, the packages of processing steps for pipelines. Several versions of a
 * plugin can be installed on the engine; one of them is active.
 */

/** `eyrie plugin pack`: packs a plugin into an archive. */
export const packPluginCommand: Command = {
  usage: '<folder> [--out file.tgz]',
  about: 'Packs the folder of a plugin into <name>-<version>.tgz for eyrie plugin add.',

  async run(args, { out }) {
    const { values, positionals } = parseArguments(args, { out: { type: 'string' } }, ['folder'])
    const [folder] = positionals
    const { manifest, archive } = await packPlugin(folder)
    const file = values.out ?? `${manifest.name}-${manifest.version}.tgz`
    await writeLocalFile(file, archive)
    writeSuccess(out, 'packed', `${manifest.name} ${manifest.version}: ${file}`)
  },
}

/** `eyrie plugin add`: installs a version of a plugin. */
export const addPluginCommand: Command = {
  usage: '<folder|file.tgz> [--new-publisher] [--yes] [--json] [--url URL] [--token TOKEN]',
  about:
    'Shows what a version of a plugin asks for, and uploads it to the engine; on a terminal, it asks before. The first version\n' +
    'becomes active at once, and is granted that. To activate another version, run eyrie plugin use. --new-publisher accepts\n' +
    'another publisher than that of the installed versions.',

  async run(args, terminal) {
    const options = { ...INSTALL_OPTIONS, ...ENGINE_OPTIONS } as const
    const { values, positionals } = parseArguments(args, options, ['folder or package'])
    const [path] = positionals
    const engine = connectToChangePlugins(values, terminal)
    const archive = await readPluginArchive(path)
    await installPackage(engine, archive, values, terminal)
  },
}

/** Packs a folder, or reads an archive that has been packed before. */
async function readPluginArchive(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isDirectory()) return new Uint8Array(await readLocalFile(path))

  const { archive } = await packPlugin(path)
  return archive
}

/** `eyrie plugin list`: lists the installed plugins. */
export const listPluginsCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about:
    'Lists plugins with all their versions. Pipelines run the active version. Uploaded plugins run in processes of their own;\n' +
    'the last line says how well these are isolated.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { ...JSON_OPTION, ...ENGINE_OPTIONS })
    const plugins = await connectEngine(values, terminal).plugin.list()
    if (values.json) return writeJson(terminal.out, plugins)
    const url = getEngineUrl(values, terminal)
    const health = engineHealth.pick({ plugin_isolation: true }).safeParse(await readHealth(url))

    writeTable(terminal.out, [LIST_HEADER, ...plugins.flatMap(createRows)])
    printRefusals(plugins, terminal.out)
    printQuarantines(plugins, terminal.out)
    if (health.success) printIsolation(health.data.plugin_isolation, terminal.out)
  },
}

/** Creates a row for each version of a plugin. */
function createRows({ name, active, versions }: Plugin): string[][] {
  return versions.map(installed => {
    const { version, origin, license, signature, elements } = installed
    const states = listStates(installed, version === active)
    const signer = signature ? describeSignature(signature) : ''
    return [name, version, states.join(', '), origin, signer, license, elements.join(', ')]
  })
}

function listStates(
  { signature, pipelines = [], quarantined = [] }: InstalledVersion,
  isActive: boolean,
): string[] {
  const states: string[] = []
  if (isActive) states.push('active')
  else if (pipelines.length > 0) states.push(`pinned by pipelines ${pipelines.join(', ')}`)
  if (signature?.refused !== undefined) states.push('refused')
  for (const { channel } of quarantined) states.push(`in quarantine on channel ${channel}`)
  return states
}

/** `eyrie plugin show`: prints the versions of one plugin in detail. */
export const showPluginCommand: Command = {
  usage: '<name> [--json] [--url URL] [--token TOKEN]',
  about:
    'Shows the versions of a plugin, what their elements declare to use and to report, and what the plugin was granted.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, { ...JSON_OPTION, ...ENGINE_OPTIONS }, [
      'name',
    ])
    const [name] = positionals
    const engine = connectEngine(values, terminal)
    const plugin = await engine.plugin.get(name)
    if (values.json) return writeJson(terminal.out, plugin)

    for (const version of plugin.versions) printVersion(plugin, version, terminal.out)
    printGrants(await engine.plugin.grants(name), terminal.out)
    printRefusals([plugin], terminal.out)
    printQuarantines([plugin], terminal.out)
  },
}

function printVersion({ name, active }: Plugin, installed: InstalledVersion, out: Output): void {
  const {
    version,
    origin,
    signature,
    elements,
    capabilities = {},
    not_granted: notGranted = [],
  } = installed
  const state = version === active ? ', active' : ''
  out.write(`${styled(out, 'bold', `${name} ${version}`)} (${origin}${state})\n`)
  if (signature) out.write(`  ${describeSignature(signature, 'with key')}\n`)
  for (const element of elements) {
    out.write(`  ${element}: ${describeCapabilities(capabilities[element]).join('; ')}\n`)
  }
  printRequested('not granted', notGranted, out)
}

/** `eyrie plugin release`: ends the quarantine of a plugin. */
export const releasePluginCommand: Command = {
  usage: '<name> [--url URL] [--token TOKEN]',
  about:
    'Releases all versions of a plugin from quarantine, in which they are after three crashes within a minute. They run again\n' +
    'at once.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, ENGINE_OPTIONS, ['name'])
    const [name] = positionals
    await connectToChangePlugins(values, terminal).plugin.release(name)
    writeSuccess(terminal.out, 'released', name)
  },
}

/** `eyrie plugin use`: activates an installed version. */
export const usePluginCommand: Command = {
  usage: '<name> <version> [--grant] [--no-revert] [--url URL] [--token TOKEN]',
  about:
    'Activates another version of a plugin. Only channels that use the plugin restart. Fails without any effect if the version\n' +
    'is incompatible with a pipeline. A version that asks for more than was granted needs --grant, or a yes on a terminal.\n' +
    'If it fails more than the present one within ten minutes, the engine switches back, unless --no-revert is given.',

  async run(args, terminal) {
    const options = {
      grant: { type: 'boolean' },
      'no-revert': { type: 'boolean' },
      ...ENGINE_OPTIONS,
    } as const
    const { values, positionals } = parseArguments(args, options, ['name', 'version'])
    const [name, version] = positionals
    const engine = connectToChangePlugins(values, terminal)
    const plugin = await engine.plugin.get(name)
    const isGranted = await grantRequested(plugin, version, values.grant, terminal)
    const selection = { version, revert: values['no-revert'] ? false : undefined }
    // The user has granted what was printed. With the ETag, the engine rejects the grant if the
    // plugin has changed since.
    const { active } = isGranted
      ? await engine.plugin.use(name, { ...selection, grant: true }, { ifMatch: getEtag(plugin) })
      : await engine.plugin.use(name, selection)
    writeSuccess(terminal.out, 'active', `${name} ${active}`)
  },
}

/**
 * Prints what a version asks for beyond what the plugin was granted, and returns whether
 * the user grants it: with the option `--grant`, or by a yes on a terminal. Throws an
 * `Error` if the user declines.
 */
export async function grantRequested(
  { name, versions }: Plugin,
  version: string,
  grantOption: boolean | undefined,
  terminal: Terminal,
): Promise<boolean> {
  const installed = versions.find(candidate => candidate.version === version)
  const requested = installed?.not_granted ?? []
  if (requested.length === 0) return false
  // Without a terminal to ask on, the engine rejects the version, and lists what it asks for.
  if (!grantOption && !isInteractive(terminal)) return false

  printRequested(`${name} ${version} asks for more than was granted`, requested, terminal.out)
  if (!grantOption && !(await confirm(terminal, 'Grant it?'))) {
    throw new Error('nothing was changed')
  }
  return true
}

/** `eyrie plugin remove`: deletes a version. */
export const removePluginCommand: Command = {
  usage: '<name> <version> [--url URL] [--token TOKEN]',
  about:
    'Removes an uploaded version of a plugin; with the last version, also the files that its ' +
    'elements have stored. A version that pipelines use is not removed.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, ENGINE_OPTIONS, ['name', 'version'])
    const [name, version] = positionals
    await connectToChangePlugins(values, terminal).plugin.remove({ name, version })
    writeSuccess(terminal.out, 'removed', `${name} ${version}`)
  },
}
