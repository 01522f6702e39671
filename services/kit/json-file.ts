import { readFileSync } from 'node:fs'
import { parseAs } from '@eyrie/contract/parse'
import type { z } from 'zod'
import { writeDurablySync } from './durable-file.ts'

/**
 * Reads a JSON file. Returns undefined if it does not exist, such as before its first write. Throws
 * an `Error` if it cannot be read, and `EyrieError` (`syntax`) with the first field that does not
 * fit the schema.
 */
export function readJsonFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): z.output<Schema> | undefined {
  const text = readText(path)
  return text === undefined ? undefined : parseAs(schema, JSON.parse(text))
}

/** Replaces a JSON file as `writeDurablySync` does. */
export const writeJsonFile = (path: string, value: unknown): void =>
  writeDurablySync(path, `${JSON.stringify(value, null, 2)}\n`)

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
