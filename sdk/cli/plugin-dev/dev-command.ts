import { resolve } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import type { ManifestElement } from '@eyrie/contract/plugin'
import {
  type Command,
  parseArguments,
  parseJsonObject,
  parsePositiveInteger,
  UsageError,
} from '../command/command.ts'
import { confirm, isInteractive } from '../command/confirm.ts'
import type { Terminal } from '../command/terminal.ts'
import {
  ENGINE_OPTIONS,
  type EngineOptions,
  getEngineAccess,
  getEngineUrl,
} from '../engine/engine-access.ts'
import { packPlugin } from '../plugin/plugin-archive.ts'
import { printInspection } from '../plugin/plugin-grant-report.ts'
import { runDevelopment } from './dev-session.ts'
import { findSource } from './dev-source.ts'
import { readDevelopmentManifest } from './dev-upload.ts'
import { isReachable, startLocalEngine } from './local-engine.ts'
import {
  addInspectPort,
  announceDebugger,
  getInspectVariables,
  parseInspectPort,
} from './plugin-debugger.ts'

/** Lets the system choose a free port. */
const ANY_PORT = 0

const DEV_OPTIONS = {
  element: { type: 'string' },
  source: { type: 'string' },
  file: { type: 'string' },
  scene: { type: 'boolean' },
  args: { type: 'string' },
  config: { type: 'string' },
  'page-port': { type: 'string' },
  inspect: { type: 'string' },
  yes: { type: 'boolean' },
  ...ENGINE_OPTIONS,
} as const

/** `eyrie plugin dev`: runs a plugin on an engine while its author changes it. */
export const devPluginCommand: Command = {
  usage:
    '<folder> [--element NAME] [--source <id|address> | --file VIDEO | --scene] [--args JSON]\n' +
    '      [--config JSON] [--page-port N] [--inspect[=PORT]] [--yes] [--url URL] [--token TOKEN]',
  about:
    'Runs a plugin on a source while you change it: uploads it after each save, and shows the live view with its objects, its\n' +
    'events, log and errors in a page. --inspect lets a debugger connect. Starts an engine if none runs on this machine. Ends with\n' +
    'Ctrl-C.',

  async run(args, terminal) {
    const { values, folder, pagePort, elementArgs, config } = parseDevArguments(args)
    const manifest = await readDevelopmentManifest(folder)
    const element = selectElement(manifest.elements, values.element)
    const inspectPort = parseInspectPort(values.inspect, manifest)

    const inspectVariables = getInspectVariables(manifest.name, inspectPort)
    const environment = { ...terminal.environment, ...inspectVariables }
    const ended = captureInterrupt(terminal)
    const stopEngine = await ensureEngine(values, { ...terminal, environment })
    try {
      if (inspectPort !== undefined) {
        await announceDebugger(manifest.name, inspectPort, terminal.out)
      }
      // The token can only be read now: an engine generates it at its first start.
      const access = getEngineAccess(values, terminal, 'plugin-token')
      if (!values.yes && isInteractive(terminal)) {
        await askToUpload(createClient(access), folder, terminal, ended)
      }
      const source = await findSource(values, terminal)
      const pipeline = { element, source, args: elementArgs, config }
      await runDevelopment({ access, folder, manifest, pipeline, port: pagePort, terminal, ended })
    } finally {
      await stopEngine()
    }
  },
}

/** Parses what can be parsed without the manifest of the plugin. Throws `UsageError`. */
function parseDevArguments(args: string[]) {
  const { values, positionals } = parseArguments(addInspectPort(args), DEV_OPTIONS, ['folder'])
  const pagePort = values['page-port']
  return {
    values,
    folder: resolve(positionals[0]),
    pagePort: pagePort === undefined ? ANY_PORT : parsePositiveInteger('page-port', pagePort),
    elementArgs: parseJsonObject('args', values.args),
    config: parseJsonObject('config', values.config),
  }
}

/** Returns a signal that fires on Ctrl-C, or never if the terminal does not support that. */
const captureInterrupt = (terminal: Terminal): AbortSignal =>
  terminal.captureInterrupt?.() ?? new AbortController().signal

/** Shows what the plugin asks for, and asks the user to grant it. Rejects if the user declines. */
async function askToUpload(
  engine: Client,
  folder: string,
  terminal: Terminal,
  ended: AbortSignal,
): Promise<void> {
  const { manifest, archive } = await packPlugin(folder)
  printInspection(await engine.plugin.inspect(archive), terminal.out)
  const { name, version } = manifest
  const question = `Upload ${name} ${version} after each change, and grant what it asks for?`
  if (!(await confirm(terminal, question, ended))) throw new Error('nothing was uploaded')
}

/** Returns the element with this name. The name may be omitted if the plugin has one element. */
function selectElement(
  elements: readonly ManifestElement[],
  name: string | undefined,
): ManifestElement {
  const [first, ...others] = elements
  if (name === undefined && first && others.length === 0) return first

  const names = elements.map(element => element.name).join(', ')
  if (name === undefined) throw new UsageError(`--element is missing: one of ${names}`)
  const element = elements.find(candidate => candidate.name === name)
  if (!element) throw new UsageError(`--element ${name} should be one of ${names}`)
  return element
}

/**
 * Starts an engine on this machine if none responds, and prints that it does so. An engine whose
 * URL the user has specified is never started. Returns a function that stops the started engine,
 * or does nothing if none was started.
 */
async function ensureEngine(
  options: EngineOptions,
  terminal: Terminal,
): Promise<() => Promise<void>> {
  const url = getEngineUrl(options, terminal)
  const isUrlSpecified =
    options.url !== undefined || Boolean(terminal.environment?.EYRIE_ENGINE_URL)
  if (isUrlSpecified || (await isReachable(url))) return async () => {}
  terminal.err.write(`no engine runs at ${url}: starting one with the data in ${terminal.data}\n`)
  return startLocalEngine(url, terminal)
}
