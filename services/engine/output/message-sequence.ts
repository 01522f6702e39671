import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import { z } from 'zod'

/**
 * Sequence numbers are reserved on disk in blocks of this size. After a crash, allocation continues
 * after the reserved block, so no number is used twice.
 */
const BLOCK_SIZE = 1 << 16

const fileContent = z.strictObject({ log_id: z.uuid(), reserved: z.int().min(0) })

/**
 * Allocates the sequence numbers of the engine's output messages: 1, 2, 3, … A crash leaves a gap.
 */
export interface Sequence {
  /**
   * Throws an Error with the file name if the file is damaged, because a guessed number
   * might be used twice.
   */
  open(): Promise<void>
  /** Identifies the log: sequence numbers are comparable only within one log. */
  logId(): string
  /** The last allocated number. */
  newest(): number
  /** Allocates `count` consecutive numbers and returns the first. */
  allocate(count: number): Promise<number>
  /** Releases the reserved numbers that were not allocated. */
  close(): Promise<void>
}

export function createSequence(folder: string): Sequence {
  const file = join(folder, 'sequence.json')
  let logId = ''
  let reserved = 0
  let newest = 0

  async function reserve(upTo: number): Promise<void> {
    const content = { log_id: logId, reserved: upTo } satisfies z.infer<typeof fileContent>
    await writeDurably(file, `${JSON.stringify(content)}\n`)
    reserved = upTo
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const stored = readSequence(file)
      logId = stored.log_id
      newest = stored.reserved
      await reserve(newest + BLOCK_SIZE)
    },
    logId: () => logId,
    newest: () => newest,
    allocate: async count => {
      if (newest + count > reserved) await reserve(newest + count + BLOCK_SIZE)
      const first = newest + 1
      newest += count
      return first
    },
    close: () => reserve(newest),
  }
}

function readSequence(file: string): z.infer<typeof fileContent> {
  try {
    return readJsonFile(file, fileContent) ?? { log_id: randomUUID(), reserved: 0 }
  } catch (cause) {
    throw new Error(
      `the sequence file ${file} is damaged (${(cause as Error).message}): move the folder of the output log elsewhere to start a new log`,
      { cause },
    )
  }
}
