import { stat } from 'node:fs/promises'
import { type Command, parseArguments } from '../command/command.ts'
import { readLocalFile, writeLocalFile } from '../command/local-files.ts'
import { formatTable, styled, writeJson } from '../command/terminal.ts'
import { connectEngine, engineOptions } from '../engine/engine-access.ts'
import { packPlugin } from './plugin-archive.ts'

export const packPluginCommand: Command = {
  usage: '<folder> [--out file.tgz]',
  about: 'Packs the folder of a plugin into <name>-<version>.tgz for eyrie plugin add.',

  async run(args, { out }) {
    const { values, positionals } = parseArguments(args, { out: { type: 'string' } }, ['folder'])
    const { manifest, archive } = await packPlugin(positionals[0]!)
    const file = values.out ?? `${manifest.name}-${manifest.version}.tgz`
    await writeLocalFile(file, archive)
    out.write(`${styled(out, 'green', 'packed')} ${manifest.name} ${manifest.version}: ${file}\n`)
  },
}

export const addPluginCommand: Command = {
  usage: '<folder|file.tgz> [--json] [--url URL] [--token TOKEN]',
  about:
    'Uploads a version of a plugin to the engine. The first version of a plugin becomes active at once. To activate\n' +
    'another version, run eyrie plugin use.',

  async run(args, terminal) {
    const options = { json: { type: 'boolean' }, ...engineOptions } as const
    const { values, positionals } = parseArguments(args, options, ['folder or package'])
    const path = positionals[0]!
    const engine = connectEngine(values, terminal)
    const installed = await engine.plugin.list()
    const plugin = await engine.plugin.upload(await readPluginArchive(path))
    if (values.json) return writeJson(terminal.out, plugin)
    const before = installed.find(({ name }) => name === plugin.name)?.versions ?? []
    const added = plugin.versions.find(({ version }) => !before.some(other => other.version === version))
    const result = added
      ? `${styled(terminal.out, 'green', 'added')} ${plugin.name} ${added.version}`
      : 'unchanged'
    terminal.out.write(`${result}; ${plugin.active} is active\n`)
  },
}

async function readPluginArchive(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const isFolder = await stat(path).then(
    stats => stats.isDirectory(),
    () => false,
  )
  return isFolder ? (await packPlugin(path)).archive : new Uint8Array(await readLocalFile(path))
}

export const listPluginsCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about: 'Lists plugins with all their versions. Pipelines run the active version.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { json: { type: 'boolean' }, ...engineOptions }, [])
    const plugins = await connectEngine(values, terminal).plugin.list()
    if (values.json) return writeJson(terminal.out, plugins)
    const rows = plugins.flatMap(({ name, active, versions }) =>
      versions.map(({ version, origin, license, elements }) => [
        name,
        version,
        version === active ? 'active' : '',
        origin,
        license,
        elements.join(', '),
      ]),
    )
    const header = ['PLUGIN', 'VERSION', 'STATE', 'ORIGIN', 'LICENSE', 'ELEMENTS']
    terminal.out.write(formatTable([header, ...rows]))
  },
}

export const usePluginCommand: Command = {
  usage: '<name> <version> [--url URL] [--token TOKEN]',
  about:
    'Activates another version of a plugin. Only channels that use the plugin restart. Fails without any effect if\n' +
    'the version is incompatible with a pipeline.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, engineOptions, ['name', 'version'])
    const [name, version] = positionals as [string, string]
    const { active } = await connectEngine(values, terminal).plugin.use(name, { version })
    terminal.out.write(`${styled(terminal.out, 'green', 'active')} ${name} ${active}\n`)
  },
}

export const removePluginCommand: Command = {
  usage: '<name> <version> [--url URL] [--token TOKEN]',
  about: 'Removes an uploaded version of a plugin. A version that pipelines use is not removed.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, engineOptions, ['name', 'version'])
    const [name, version] = positionals as [string, string]
    await connectEngine(values, terminal).plugin.remove({ name, version })
    terminal.out.write(`${styled(terminal.out, 'green', 'removed')} ${name} ${version}\n`)
  },
}
