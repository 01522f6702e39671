import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Terminal } from './terminal.ts'

/** A command of `eyrie`. */
export interface Command {
  /** Arguments and options, as the help shows them after the name of the command. */
  usage: string
  /** One or two lines for the help. */
  about: string
  /** Throws `UsageError` for invalid arguments, and any other `Error` if the command fails. */
  run(args: string[], terminal: Terminal): Promise<void>
}

/** The command line is invalid. Eyrie prints the message together with the usage of the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Parses options and exactly one positional argument for each name. Throws `UsageError`. */
export function parseArguments<Options extends ParseArgsOptionsConfig>(
  args: string[],
  options: Options,
  names: string[],
) {
  const { values, positionals } = parseStrictly(args, options)
  if (positionals.length < names.length) throw new UsageError(`the ${names[positionals.length]} is missing`)
  if (positionals.length > names.length)
    throw new UsageError(`unexpected argument ${positionals[names.length]}`)
  return { values, positionals }
}

function parseStrictly<Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    // Only the first sentence: Node appends a hint about positional arguments that begin with a dash.
    throw new UsageError((error as Error).message.split('. ')[0])
  }
}

/** Parses a whole number of at least 1. Throws `UsageError`. */
export function parsePositiveInteger(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--${option} ${text} should be a whole number of at least 1`)
  return Number(text)
}
