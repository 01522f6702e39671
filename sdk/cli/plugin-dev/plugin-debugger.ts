import type { Manifest } from '@eyrie/contract/plugin'
import { parsePositiveInteger, UsageError } from '../command/command.ts'
import type { Output } from '../command/terminal.ts'

/**
 * The debugger of `eyrie plugin dev --inspect`. The processes of plugins have no network access, so
 * that the engine itself serves the debugger, on a port of this machine.
 */

const DEFAULT_PORT = 9229

/** Adds the default port to `--inspect` without a port, which Node accepts too. */
export const addInspectPort = (args: readonly string[]): string[] =>
  args.map(arg => (arg === '--inspect' ? `--inspect=${DEFAULT_PORT}` : arg))

/**
 * Returns the port in the option; undefined if it is absent. Throws `UsageError` for elements in
 * Python.
 */
export function parseInspectPort(
  option: string | undefined,
  { entry }: Pick<Manifest, 'entry'>,
): number | undefined {
  if (option === undefined) return undefined
  if (entry.endsWith('.py')) {
    throw new UsageError(
      '--inspect is for elements in TypeScript and JavaScript: debug Python in its tests, with python3 -m pdb -m unittest in the folder of the plugin',
    )
  }
  return parsePositiveInteger('inspect', option)
}

/** The variables with which an engine serves the debugger of a plugin. */
export const getInspectVariables = (plugin: string, port: number | undefined) =>
  port === undefined ? {} : { EYRIE_INSPECT: `${plugin}:${port}` }

/**
 * Prints how to connect. Rejects with the remedy if no engine on this machine serves the
 * debugger of the plugin.
 */
export async function announceDebugger(plugin: string, port: number, out: Output): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/json/version`).catch(() => undefined)
  const version = response?.ok ? ((await response.json().catch(() => ({}))) as object) : {}
  if (!('Eyrie-Plugin' in version) || version['Eyrie-Plugin'] !== plugin) {
    throw new Error(
      `the engine serves no debugger for ${plugin} on port ${port} of this machine: stop it, so that this command starts one, or start it with EYRIE_INSPECT=${plugin}:${port}`,
    )
  }
  out.write(`debugger: open chrome://inspect in Chrome, or attach an editor to 127.0.0.1:${port}\n`)
  out.write(
    'Until the engine ends, frames of the plugin have no time limit, and no limit of CPU time.\n',
  )
}
