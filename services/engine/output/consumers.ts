import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'

/** Acknowledgements are kept this often at most; those that a crash forgets cost duplicates, never a hole. */
const SAVE_MS = 1000

const kept = z.record(z.string(), z.int().min(0))

/** Followers known by their name, and the last message that each has acknowledged. */
export interface Consumers {
  /** Throws an Error naming the file if it is damaged. */
  open(): Promise<void>
  /** The last number that it has acknowledged; one that is new begins after `start`. */
  join(name: string, start: number): number
  acknowledge(name: string, seq: number): void
  /** Those that have not acknowledged everything up to a number. */
  behind(seq: number): string[]
  close(): Promise<void>
}

export function createConsumers(file: string, log: Log): Consumers {
  const acknowledged = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let saving: Promise<void> = Promise.resolve()

  const save = () => {
    clearTimeout(timer)
    timer = undefined
    saving = saving
      .then(() => writeDurably(file, `${JSON.stringify(Object.fromEntries(acknowledged))}\n`))
      .catch(error => log.error({ err: error }, 'what consumers have acknowledged cannot be kept'))
    return saving
  }
  const advance = (name: string, seq: number) => {
    acknowledged.set(name, seq)
    timer ??= setTimeout(save, SAVE_MS)
  }

  return {
    open: async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      for (const [name, seq] of Object.entries(await read(file))) acknowledged.set(name, seq)
    },
    join: (name, start) => {
      if (!acknowledged.has(name)) advance(name, start)
      return acknowledged.get(name)!
    },
    acknowledge: (name, seq) => {
      if (seq > (acknowledged.get(name) ?? 0)) advance(name, seq)
    },
    behind: seq => [...acknowledged].filter(([, last]) => last < seq).map(([name]) => name),
    close: async () => {
      if (timer) await save()
      await saving
    },
  }
}

async function read(file: string): Promise<z.infer<typeof kept>> {
  try {
    return parseAs(kept, JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(`${file} is damaged (${(cause as Error).message}): remove it, and consumers begin anew`, {
      cause,
    })
  }
}
