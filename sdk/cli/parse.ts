import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { UsageError } from './terminal.ts'

/** Parses options and exactly so many names. Throws `UsageError` that says what is wrong. */
export function parse<Options extends ParseArgsOptionsConfig>(
  args: string[],
  options: Options,
  names: string[],
) {
  const { values, positionals } = understood(() =>
    parseArgs({ args, options, allowPositionals: true, strict: true }),
  )
  if (positionals.length < names.length) throw new UsageError(`the ${names[positionals.length]} is missing`)
  if (positionals.length > names.length) throw new UsageError(`${positionals[names.length]} is one too many`)
  return { values, positionals }
}

/** The number of an option. Throws `UsageError` unless it is whole and at least 1. */
export function positive(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--${option} ${text} should be a whole number from 1 on`)
  return Number(text)
}

function understood<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    // The library adds a hint on positional arguments that begin with a dash.
    throw new UsageError((error as Error).message.split('. ')[0])
  }
}
