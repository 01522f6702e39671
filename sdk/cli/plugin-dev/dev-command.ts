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
import { ENGINE_OPTIONS, getEngineAccess } from '../engine/engine-access.ts'
import { packPlugin } from '../plugin/plugin-archive.ts'
import { printInspection } from '../plugin/plugin-grant-report.ts'
import { runDevelopment } from './dev-session.ts'
import { findSource } from './dev-source.ts'
import { readDevelopmentManifest } from './dev-upload.ts'
import { isReachable, startLocalEngine } from './local-engine.ts'
import { addInspectPort, announceDebugger, getInspectVariables, parseInspectPort } from './plugin-debugger.ts'

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
    const { values, positionals } = parseArguments(addInspectPort(args), DEV_OPTIONS, ['folder'])
    const folder = resolve(positionals[0])
    const elementArgs = parseJsonObject('args', values.args)
    const config = parseJsonObject('config', values.config)
    const { 'page-port': pagePort } = values
    const port = pagePort === undefined ? 0 : parsePositiveInteger('page-port', pagePort)

    const manifest = await readDevelopmentManifest(folder)
    const element = selectElement(manifest.elements, values.element)
    const inspectPort = parseInspectPort(values.inspect, manifest)
    const inspection = getInspectVariables(manifest.name, inspectPort)
    const ended = terminal.captureInterrupt?.() ?? new AbortController().signal
    const stopEngine = await provideEngine(getEngineAccess(values, terminal).url, values.url, {
      ...terminal,
      environment: { ...terminal.environment, ...inspection },
    })
    try {
      if (inspectPort !== undefined) await announceDebugger(manifest.name, inspectPort, terminal.out)
      // An engine that was just started has generated its tokens now.
      const access = getEngineAccess(values, terminal, 'plugin-token')
      if (!values.yes && isInteractive(terminal))
        await askToUpload(createClient(access), folder, terminal, ended)
      await runDevelopment({
        access,
        folder,
        manifest,
        pipeline: { element, source: await findSource(values, terminal), args: elementArgs, config },
        port,
        terminal,
        ended,
      })
    } finally {
      await stopEngine()
    }
  },
}

/** Shows what the plugin asks for, and asks for consent. Rejects if the user declines. */
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

function selectElement(elements: readonly ManifestElement[], name: string | undefined): ManifestElement {
  const names = elements.map(element => element.name).join(', ')
  if (name === undefined && elements.length > 1) throw new UsageError(`--element is missing: one of ${names}`)
  const element = elements.find(candidate => name === undefined || candidate.name === name)
  if (!element) throw new UsageError(`--element ${name} should be one of ${names}`)
  return element
}

/** Starts an engine if none responds and no other one is named. Returns the function that stops what was started. */
async function provideEngine(
  url: string,
  option: string | undefined,
  terminal: Terminal,
): Promise<() => Promise<void>> {
  const isNamed = option !== undefined || Boolean(terminal.environment?.EYRIE_ENGINE_URL)
  if (isNamed || (await isReachable(url))) return async () => {}
  terminal.err.write(`no engine runs at ${url}: starting one with the data in ${terminal.data}\n`)
  return startLocalEngine(url, terminal)
}
