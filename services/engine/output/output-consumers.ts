import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Consumer, EyrieError } from '@eyrie/contract'
import { writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import { Mutex } from 'async-mutex'
import { z } from 'zod'

/**
 * Acknowledgements are saved with a delay, because frequent writes wear out flash. A consumer whose
 * acknowledgements are lost in a crash receives some messages again, but never misses one.
 */
const SAVE_DELAY_MS = 5000
/** Maximum number of consumers. A client might connect under a new name every time. */
export const MAX_CONSUMERS = 64

const storedConsumer = z.strictObject({
  /** The last acknowledged sequence number. */
  acknowledged: z.int().min(0),
  /** Time of the last connection, disconnection or acknowledgement. */
  seen: z.iso.datetime(),
})
const fileContent = z.record(z.string(), storedConsumer)

/**
 * Named clients of the output. For each consumer, the last acknowledged message is stored, so that
 * the consumer continues after it when it reconnects.
 */
export interface Consumers {
  /** Throws an Error with the file name if the file is damaged. */
  open(): Promise<void>
  /**
   * Adds the consumer, unless it exists. Its first message is the one after `start`. Throws
   * `EyrieError` (`capacity`) if there are `MAX_CONSUMERS` already.
   */
  register(name: string, start: number): void
  /**
   * Counts a connection of a registered consumer. Returns the last acknowledged sequence number.
   */
  connect(name: string): number
  disconnect(name: string): void
  acknowledge(name: string, seq: number): void
  /** Names of the consumers that have not acknowledged all messages up to `seq`. */
  listBehind(seq: number): string[]
  list(): Omit<Consumer, 'held'>[]
  /** Throws `EyrieError`: `id` if the consumer is unknown, `reference` while it is connected. */
  remove(name: string): Promise<void>
  close(): Promise<void>
}

export function createConsumers(file: string, log: Log): Consumers {
  const consumers = new Map<string, z.infer<typeof storedConsumer>>()
  const connectionCounts = new Map<string, number>()
  const writing = new Mutex()
  let saveTimer: NodeJS.Timeout | undefined

  async function save(): Promise<void> {
    clearTimeout(saveTimer)
    saveTimer = undefined
    await writing
      .runExclusive(() => writeDurably(file, `${JSON.stringify(Object.fromEntries(consumers))}\n`))
      .catch(error => log.error({ err: error, file }, 'failed to save acknowledgements'))
  }

  /** Stores the acknowledgement and the current time, and saves the file later. */
  function update(name: string, acknowledged: number): void {
    consumers.set(name, { acknowledged, seen: new Date().toISOString() })
    saveTimer ??= setTimeout(save, SAVE_DELAY_MS)
  }

  /** One consumer may have several connections. */
  function changeConnectionCount(name: string, difference: 1 | -1): void {
    const count = connectionCounts.get(name) ?? 0
    connectionCounts.set(name, count + difference)
    update(name, consumers.get(name)!.acknowledged)
  }

  const isConnected = (name: string) => (connectionCounts.get(name) ?? 0) > 0

  return {
    open: async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      for (const [name, stored] of Object.entries(readConsumers(file))) {
        consumers.set(name, stored)
      }
    },
    register: (name, start) => {
      if (consumers.has(name)) return
      if (consumers.size >= MAX_CONSUMERS) {
        throw new EyrieError(
          'capacity',
          `the maximum of ${MAX_CONSUMERS} consumers is reached: remove one with DELETE /api/v3/consumers/{name}`,
          { value: { consumers: [...consumers.keys()] } },
        )
      }
      update(name, start)
    },
    connect: name => {
      changeConnectionCount(name, 1)
      return consumers.get(name)!.acknowledged
    },
    disconnect: name => changeConnectionCount(name, -1),
    acknowledge: (name, seq) => {
      if (seq > consumers.get(name)!.acknowledged) update(name, seq)
    },
    listBehind: seq =>
      [...consumers].filter(([, { acknowledged }]) => acknowledged < seq).map(([name]) => name),
    list: () =>
      [...consumers].map(([name, stored]) => ({ name, ...stored, connected: isConnected(name) })),
    remove: async name => {
      if (!consumers.has(name)) {
        throw new EyrieError(
          'id',
          `consumer ${name} does not exist: GET /consumers lists all consumers`,
        )
      }
      if (isConnected(name)) {
        throw new EyrieError('reference', `consumer ${name} is connected: disconnect it first`)
      }
      consumers.delete(name)
      connectionCounts.delete(name)
      await save()
    },
    close: async () => {
      if (saveTimer) await save()
      await writing.waitForUnlock()
    },
  }
}

function readConsumers(file: string): z.infer<typeof fileContent> {
  try {
    return readJsonFile(file, fileContent) ?? {}
  } catch (cause) {
    throw new Error(
      `the consumer file ${file} is damaged (${(cause as Error).message}): restore it from a backup, or delete it to start without consumers`,
      { cause },
    )
  }
}
