import { readFileSync } from 'node:fs'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'

/** Records by name, in a file that survives a loss of power. */
export interface RecordFile<Entry> {
  find(name: string): Entry | undefined
  entries(): [name: string, entry: Entry][]
  save(name: string, entry: Entry): Promise<void>
}

export interface RecordFileOptions<Entry> {
  file: string
  name: z.ZodType<string, string>
  entry: z.ZodType<Entry>
  /** Logged if the file is damaged. */
  failure: string
  log: Log
}

/** Opens the file. A damaged file is ignored, so that the engine can start. */
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

function readRecords<Entry>({ file, name, entry, failure, log }: RecordFileOptions<Entry>) {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return {}
  }
  try {
    return parseAs(z.record(name, entry), JSON.parse(text))
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, failure)
    return {}
  }
}
