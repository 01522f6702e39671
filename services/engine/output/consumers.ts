import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Consumer, EyrieError } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'

/** Acknowledgements are kept this often at most, since flash wears; those that a crash forgets cost duplicates, never a hole. */
const SAVE_MS = 5000
/** Enough for every system that an appliance may feed; names that are made up anew each time end here. */
export const MOST_CONSUMERS = 64

const place = z.strictObject({ acknowledged: z.int().min(0), seen: z.iso.datetime() })
const kept = z.record(z.string(), place)

/** Followers known by their name, and the last message that each has acknowledged. */
export interface Consumers {
  /** Throws an Error naming the file if it is damaged. */
  open(): Promise<void>
  /** Remembers one that is new, to begin after `start`. Throws EyrieError `capacity` where there are too many. */
  admit(name: string, start: number): void
  /** One has connected, who has been admitted: the last number that it has acknowledged. */
  join(name: string): number
  leave(name: string): void
  acknowledge(name: string, seq: number): void
  /** Those that have not acknowledged everything up to a number. */
  behind(seq: number): string[]
  list(): Omit<Consumer, 'held'>[]
  /** Throws EyrieError: `id` where there is none of this name, `reference` while it is connected. */
  forget(name: string): Promise<void>
  close(): Promise<void>
}

export function createConsumers(file: string, log: Log): Consumers {
  const places = new Map<string, z.infer<typeof place>>()
  const connections = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let saving: Promise<void> = Promise.resolve()

  const save = () => {
    clearTimeout(timer)
    timer = undefined
    saving = saving
      .then(() => writeDurably(file, `${JSON.stringify(Object.fromEntries(places))}\n`))
      .catch(error => log.error({ err: error }, 'what consumers have acknowledged cannot be kept'))
    return saving
  }
  const put = (name: string, acknowledged: number) => {
    places.set(name, { acknowledged, seen: new Date().toISOString() })
    timer ??= setTimeout(save, SAVE_MS)
  }
  const count = (name: string, difference: 1 | -1) => {
    connections.set(name, (connections.get(name) ?? 0) + difference)
    put(name, places.get(name)!.acknowledged)
  }
  const isConnected = (name: string) => (connections.get(name) ?? 0) > 0

  return {
    open: async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      for (const [name, seen] of Object.entries(await read(file))) places.set(name, seen)
    },
    admit: (name, start) => {
      if (places.has(name)) return
      if (places.size >= MOST_CONSUMERS)
        throw new EyrieError(
          'capacity',
          `there are ${MOST_CONSUMERS} consumers already: DELETE /api/v3/consumers/{name} forgets one`,
          { value: { consumers: [...places.keys()] } },
        )
      put(name, start)
    },
    join: name => {
      count(name, 1)
      return places.get(name)!.acknowledged
    },
    leave: name => count(name, -1),
    acknowledge: (name, seq) => {
      if (seq > places.get(name)!.acknowledged) put(name, seq)
    },
    behind: seq => [...places].filter(([, { acknowledged }]) => acknowledged < seq).map(([name]) => name),
    list: () => [...places].map(([name, place]) => ({ name, ...place, connected: isConnected(name) })),
    forget: async name => {
      if (!places.has(name))
        throw new EyrieError('id', `there is no consumer ${name}: GET /consumers lists them`)
      if (isConnected(name))
        throw new EyrieError('reference', `the consumer ${name} is connected: stop it before it is forgotten`)
      places.delete(name)
      connections.delete(name)
      await save()
    },
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
