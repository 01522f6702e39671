import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Terminal } from './terminal.ts'

/** The option of commands that can print their result as JSON. */
export const JSON_OPTION = { json: { type: 'boolean' } } as const
/** The option to exceed the capacity of the machine. */
export const OVERRIDE_OPTION = { override: { type: 'string' } } as const

/**
 * A command of the command line `eyrie`, such as `status` or `plugin add`. Functions below
 * parse its arguments.
 */
export interface Command {
  /** Arguments and options, as the help shows them after the name of the command. */
  usage: string
  /** Description for the help, one or two lines. */
  about: string
  /** Throws `UsageError` for invalid arguments, and any other `Error` if the command fails. */
  run(args: string[], terminal: Terminal): Promise<void>
}

/** The command line is invalid. The message is printed together with the usage of the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Parses the arguments of a command: options, and one positional argument for each of `names`.
 * Returns the positional arguments in that order. Throws `UsageError`.
 */
export function parseArguments<
  const Options extends ParseArgsOptionsConfig,
  const Names extends readonly string[] = [],
>(args: string[], options: Options, names?: Names) {
  const { values, positionals } = parseStrictly(args, options)

  const expected: readonly string[] = names ?? []
  const missing = expected[positionals.length]
  if (missing !== undefined) throw new UsageError(`the ${missing} is missing`)
  const unexpected = positionals[expected.length]
  if (unexpected !== undefined) throw new UsageError(`unexpected argument ${unexpected}`)

  return { values, positionals: positionals as { [Index in keyof Names]: string } }
}

function parseStrictly<Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    // Node appends a hint about positional arguments that begin with a dash. Only the first
    // sentence is relevant.
    throw new UsageError((error as Error).message.split('. ')[0])
  }
}

/**
 * Parses the value of an option that is a positive integer of at most nine digits.
 * Throws `UsageError`.
 */
export function parsePositiveInteger(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new UsageError(`--${option} ${text} should be a whole number of at least 1`)
  }
  return Number(text)
}

/** Returns the value of `OVERRIDE_OPTION`. Throws `UsageError`. */
export function parseOverride(override: string | undefined): 'capacity' | undefined {
  if (override === undefined || override === 'capacity') return override
  throw new UsageError(`--override ${override} should be capacity`)
}

/** Returns the value of an option that must be one of `choices`. Throws `UsageError`. */
export function parseChoice<const Choice extends string>(
  option: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find(candidate => candidate === text)
  if (choice === undefined) {
    throw new UsageError(`--${option} ${text} should be one of ${choices.join(', ')}`)
  }
  return choice
}

/**
 * Returns the value of an option that is required. Throws `UsageError` if it is absent or empty.
 */
export function requireOption(option: string, text: string | undefined): string {
  if (!text) throw new UsageError(`--${option} is missing`)
  return text
}

/**
 * Parses the value of an option that is a JSON object. Returns undefined if it is absent.
 * Throws `UsageError`.
 */
export function parseJsonObject(
  option: string,
  text: string | undefined,
): Record<string, unknown> | undefined {
  if (text === undefined) return undefined
  try {
    const value = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {}
  throw new UsageError(`--${option} ${text} should be a JSON object, such as '{"limit": 5}'`)
}
