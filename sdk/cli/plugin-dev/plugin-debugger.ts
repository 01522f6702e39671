import type { Manifest } from '@eyrie/contract/plugin'
import { z } from 'zod'
import { parsePositiveInteger, UsageError } from '../command/command.ts'
import type { Output } from '../command/terminal.ts'

/**
 * The debugger of `eyrie plugin dev --inspect`. The process of a plugin has no network access. The
 * engine therefore serves the debugger of the plugin, on a port of this machine.
 */

/** The port of the debugger of Node.js. */
const DEFAULT_PORT = 9229

/** What the engine adds to the response of Node.js to `/json/version`. */
const versionResponse = z.looseObject({ 'Eyrie-Plugin': z.string() })

/** Adds the default port to `--inspect` without a port, so that it can be used as with Node.js. */
export const addInspectPort = (args: readonly string[]): string[] =>
  args.map(arg => (arg === '--inspect' ? `--inspect=${DEFAULT_PORT}` : arg))

/**
 * Parses the port in the option `--inspect`. Returns undefined if the option is absent. Throws
 * `UsageError` for elements in Python.
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

/** Returns the environment variables with which an engine serves the debugger of a plugin. */
export const getInspectVariables = (
  plugin: string,
  port: number | undefined,
): Record<string, string> => (port === undefined ? {} : { EYRIE_INSPECT: `${plugin}:${port}` })

/**
 * Prints how to connect a debugger. Rejects with the remedy if no engine on this machine serves the
 * debugger of the plugin.
 */
export async function announceDebugger(plugin: string, port: number, out: Output): Promise<void> {
  if ((await findDebuggedPlugin(port)) !== plugin) {
    throw new Error(
      `the engine serves no debugger for ${plugin} on port ${port} of this machine: stop it, so that this command starts one, or start it with EYRIE_INSPECT=${plugin}:${port}`,
    )
  }
  out.write(`debugger: open chrome://inspect in Chrome, or attach an editor to 127.0.0.1:${port}\n`)
  out.write(
    'Until the engine ends, frames of the plugin have no time limit, and no limit of CPU time.\n',
  )
}

/**
 * Returns the name of the plugin whose debugger is served on a port; undefined if there is none.
 */
async function findDebuggedPlugin(port: number): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/json/version`).catch(() => undefined)
  if (!response?.ok) return undefined
  const version: unknown = await response.json().catch(() => undefined)
  return versionResponse.safeParse(version).data?.['Eyrie-Plugin']
}
