import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { z } from 'zod'

/** Numbers are reserved on disk in blocks, so that none is used twice even after a crash. */
const BLOCK_SIZE = 1 << 16

const fileContent = z.strictObject({ log_id: z.uuid(), reserved: z.int().min(0) })

/** Allocates the numbers of messages: 1, 2, 3, …, with a jump after a crash. */
export interface Sequence {
  /** Throws an Error with the file name if the file is damaged: numbers must not be guessed. */
  open(): Promise<void>
  logId(): string
  /** The last allocated number. */
  newest(): number
  /** Allocates `count` numbers and returns the first. */
  allocate(count: number): Promise<number>
  /** Releases reserved numbers that were not used. */
  close(): Promise<void>
}

export function createSequence(folder: string): Sequence {
  const file = join(folder, 'sequence.json')
  let logId = ''
  let reserved = 0
  let newest = 0

  const reserve = async (upTo: number) => {
    await writeDurably(file, `${JSON.stringify({ log_id: logId, reserved: upTo })}\n`)
    reserved = upTo
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const stored = await readSequence(file)
      logId = stored.log_id
      newest = stored.reserved
      reserved = stored.reserved
      await reserve(newest + BLOCK_SIZE)
    },
    logId: () => logId,
    newest: () => newest,
    allocate: async count => {
      if (newest + count > reserved) await reserve(newest + count + BLOCK_SIZE)
      newest += count
      return newest - count + 1
    },
    close: () => reserve(newest),
  }
}

async function readSequence(file: string): Promise<z.infer<typeof fileContent>> {
  try {
    return parseAs(fileContent, JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { log_id: randomUUID(), reserved: 0 }
    throw new Error(
      `${file} is damaged (${(cause as Error).message}): move the folder of the output log away to begin a new log`,
      { cause },
    )
  }
}
