import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { z } from 'zod'

/** Numbers are reserved on disk this many at a time, so that none is used twice even after a crash. */
const BLOCK = 1 << 16

const reservation = z.strictObject({ log_id: z.uuid(), reserved: z.int().min(0) })

/** Gives out the numbers of messages: 1, 2, 3, … with jumps where the engine has crashed. */
export interface Sequence {
  /** Throws an Error naming the file if it is damaged: numbers must not be guessed. */
  open(): Promise<void>
  logId(): string
  /** The last number given out. */
  newest(): number
  /** The first of `count` numbers that nobody else gets. */
  take(count: number): Promise<number>
  /** Gives back what is reserved and not used. */
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
      const stored = await read(file)
      logId = stored.log_id
      newest = reserved = stored.reserved
      await reserve(newest + BLOCK)
    },
    logId: () => logId,
    newest: () => newest,
    take: async count => {
      if (newest + count > reserved) await reserve(newest + count + BLOCK)
      newest += count
      return newest - count + 1
    },
    close: () => reserve(newest),
  }
}

async function read(file: string): Promise<z.infer<typeof reservation>> {
  try {
    return parseAs(reservation, JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { log_id: randomUUID(), reserved: 0 }
    throw new Error(
      `${file} is damaged (${(cause as Error).message}): move the folder of the output log away to begin a new log`,
      { cause },
    )
  }
}
