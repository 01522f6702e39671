import { writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'

/** A JSON file that contains an entry for each name, such as the name of a plugin. */
export interface RecordFile<Entry> {
  find(name: string): Entry | undefined
  entries(): [name: string, entry: Entry][]
  /** Adds or replaces an entry. The file is written durably: it survives a loss of power. */
  save(name: string, entry: Entry): Promise<void>
}

export interface RecordFileOptions<Entry> {
  /** Path of the file. */
  file: string
  /** Schema of the names. */
  name: z.ZodType<string, string>
  /** Schema of the entries. */
  entry: z.ZodType<Entry>
  /** The message that is logged if the file is damaged or cannot be read. */
  failure: string
  log: Log
}

/**
 * Opens the file. If it is missing, damaged or cannot be read, there are no entries, so that the
 * engine can start nevertheless.
 */
export function openRecordFile<Entry>(options: RecordFileOptions<Entry>): RecordFile<Entry> {
  let records = readRecords(options)

  return {
    find: name => (Object.hasOwn(records, name) ? records[name] : undefined),
    entries: () => Object.entries(records),
    save: async (name, entry) => {
      records = { ...records, [name]: entry }
      await writeDurably(options.file, `${JSON.stringify(records, null, 2)}\n`)
    },
  }
}

function readRecords<Entry>({
  file,
  name,
  entry,
  failure,
  log,
}: RecordFileOptions<Entry>): Readonly<Record<string, Entry>> {
  try {
    return readJsonFile(file, z.record(name, entry)) ?? {}
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, failure)
    return {}
  }
}
