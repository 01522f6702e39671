import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Consumer, EyrieError } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { Mutex } from 'async-mutex'
import { z } from 'zod'

/** Saved rarely, since flash wears out. Acknowledgements that a crash loses cause duplicates, never gaps. */
const SAVE_DELAY_MS = 5000
/** Enough for all systems of an appliance, and a limit for clients that make up a new name for every connection. */
export const MAX_CONSUMERS = 64

const progress = z.strictObject({ acknowledged: z.int().min(0), seen: z.iso.datetime() })
const fileContent = z.record(z.string(), progress)

/** Named clients of the output and the last message that each has acknowledged. */
export interface Consumers {
  /** Throws an Error with the file name if the file is damaged. */
  open(): Promise<void>
  /** Adds an unknown consumer that starts after `start`. Throws `EyrieError` (`capacity`) at the maximum number. */
  register(name: string, start: number): void
  /** Marks a registered consumer as connected. Returns the last number that it has acknowledged. */
  connect(name: string): number
  disconnect(name: string): void
  acknowledge(name: string, seq: number): void
  /** Names of the consumers that have not acknowledged everything up to `seq`. */
  listBehind(seq: number): string[]
  list(): Omit<Consumer, 'held'>[]
  /** Throws `EyrieError`: `id` if the consumer is unknown, `reference` while it is connected. */
  remove(name: string): Promise<void>
  close(): Promise<void>
}

export function createConsumers(file: string, log: Log): Consumers {
  const consumers = new Map<string, z.infer<typeof progress>>()
  /** Number of open connections, by name. */
  const connections = new Map<string, number>()
  const writing = new Mutex()
  let saveTimer: NodeJS.Timeout | undefined

  const save = async () => {
    clearTimeout(saveTimer)
    saveTimer = undefined
    await writing
      .runExclusive(() => writeDurably(file, `${JSON.stringify(Object.fromEntries(consumers))}\n`))
      .catch(error => log.error({ err: error, file }, 'failed to save acknowledgements of consumers'))
  }
  const update = (name: string, acknowledged: number) => {
    consumers.set(name, { acknowledged, seen: new Date().toISOString() })
    saveTimer ??= setTimeout(save, SAVE_DELAY_MS)
  }
  const countConnection = (name: string, difference: 1 | -1) => {
    connections.set(name, (connections.get(name) ?? 0) + difference)
    update(name, consumers.get(name)!.acknowledged)
  }
  const isConnected = (name: string) => (connections.get(name) ?? 0) > 0

  return {
    open: async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      for (const [name, stored] of Object.entries(await readConsumers(file))) consumers.set(name, stored)
    },
    register: (name, start) => {
      if (consumers.has(name)) return
      if (consumers.size >= MAX_CONSUMERS)
        throw new EyrieError(
          'capacity',
          `there are ${MAX_CONSUMERS} consumers already: DELETE /api/v3/consumers/{name} forgets one`,
          { value: { consumers: [...consumers.keys()] } },
        )
      update(name, start)
    },
    connect: name => {
      countConnection(name, 1)
      return consumers.get(name)!.acknowledged
    },
    disconnect: name => countConnection(name, -1),
    acknowledge: (name, seq) => {
      if (seq > consumers.get(name)!.acknowledged) update(name, seq)
    },
    listBehind: seq =>
      [...consumers].filter(([, { acknowledged }]) => acknowledged < seq).map(([name]) => name),
    list: () => [...consumers].map(([name, stored]) => ({ name, ...stored, connected: isConnected(name) })),
    remove: async name => {
      if (!consumers.has(name))
        throw new EyrieError('id', `there is no consumer ${name}: GET /consumers lists them`)
      if (isConnected(name))
        throw new EyrieError('reference', `the consumer ${name} is connected: stop it before it is forgotten`)
      consumers.delete(name)
      connections.delete(name)
      await save()
    },
    close: async () => {
      if (saveTimer) await save()
      await writing.waitForUnlock()
    },
  }
}

async function readConsumers(file: string): Promise<z.infer<typeof fileContent>> {
  try {
    return parseAs(fileContent, JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(`${file} is damaged (${(cause as Error).message}): remove it, and consumers begin anew`, {
      cause,
    })
  }
}
