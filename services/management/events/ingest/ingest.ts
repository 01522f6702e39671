import type { Log } from '@eyrie/kit'
import { and, between, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { engine, engineState, event } from '../../db/schema/index.ts'
import { attachPictures } from '../pictures/attach-pictures.ts'
import { contributionOf } from '../statistics/contribution.ts'
import { addToMinutes } from '../statistics/minute-statistics.ts'
import { type HeardChannel, heardChannels, keepCounters } from './ingest-channels.ts'
import type { ContributingMessage, Ingest, MessageSubscriber, ReceivedMessage } from './ingest-port.ts'
import { advance, type Durable, type OutputPosition, type Taken } from './output-position.ts'

export interface IngestOptions {
  database: Database
  subscribers?: readonly MessageSubscriber[]
  log: Log
}

type Row = typeof event.$inferInsert

/** Rows of one statement; a parameter each column. */
const MOST_ROWS = 2000

/** Stores events, statistics and the position in the output in one transaction, which subscribers share. */
export function createIngest({ database, subscribers = [], log }: IngestOptions): Ingest {
  return {
    async consume(engine_id, received) {
      const { place, gaps } = await database.system('events', tx =>
        store(tx, engine_id, received, subscribers),
      )
      for (const gap of gaps)
        log.warn(
          { engine: await nameOf(database, engine_id), engine_id, ...gap },
          'the engine no longer had messages that management had not taken yet',
        )
      return place.seq
    },
  }
}

async function store(
  tx: Transaction,
  engine_id: string,
  received: readonly ReceivedMessage[],
  subscribers: readonly MessageSubscriber[],
): Promise<Taken> {
  const taken = advance(await placeOf(tx, engine_id), received)
  const messages = await unknown(tx, engine_id, taken.messages)
  const channels = await heardChannels(
    tx,
    engine_id,
    messages.map(({ message }) => message),
  )
  const rows: Row[] = []
  const contributed: ContributingMessage[] = []
  const pictures: { channel: HeardChannel; message: Extract<Durable, { kind: 'picture' }> }[] = []
  for (const { log_id, message } of messages) {
    const channel = message.channel === null ? undefined : channels.get(message.channel)
    if (!channel) continue
    if (message.kind === 'picture') {
      pictures.push({ channel, message })
      continue
    }
    const added = contributionOf(message, channel)
    const row = rowOf(engine_id, log_id, channel, message)
    rows.push({ ...row, statistics: added ?? null })
    const { epoch = null, pts = null, picture = null } = row
    const frame = message.kind === 'event' ? { epoch, pts, picture } : undefined
    if (added) contributed.push({ channel_id: channel.channel_id, at: row.time.getTime(), added, frame })
  }
  const afterStore: (() => Promise<void>)[] = []
  for (const subscriber of subscribers) afterStore.push(await subscriber.beforeStore(tx, contributed))
  for (let from = 0; from < rows.length; from += MOST_ROWS)
    await tx.insert(event).values(rows.slice(from, from + MOST_ROWS))
  await addToMinutes(tx, contributed)
  await keepCounters(tx, channels.values())
  for (const notify of afterStore) await notify()
  await attachPictures(tx, pictures)
  await tx.update(engineState).set(taken.place).where(eq(engineState.engine_id, engine_id))
  return taken
}

const nameOf = (database: Database, engine_id: string) =>
  database.system('events', async tx => {
    const [known] = await tx.select().from(engine).where(eq(engine.engine_id, engine_id))
    return known?.engine_name
  })

/** Where the engine's output has been followed to; nobody else follows it until the transaction ends. */
async function placeOf(tx: Transaction, engine_id: string): Promise<OutputPosition> {
  await tx.insert(engineState).values({ engine_id }).onConflictDoNothing()
  const [place] = await tx
    .select({ log_id: engineState.log_id, seq: engineState.seq })
    .from(engineState)
    .where(eq(engineState.engine_id, engine_id))
    .for('update')
  return place!
}

/** Those that are not stored yet, should the place ever lie behind them. */
async function unknown(
  tx: Transaction,
  engine_id: string,
  messages: Taken['messages'],
): Promise<Taken['messages']> {
  const known = new Set<string>()
  for (const [log_id, own] of Map.groupBy(messages, ({ log_id }) => log_id)) {
    const times = own.map(({ message }) => Date.parse(message.time))
    const found = await tx
      .select({ seq: event.seq })
      .from(event)
      .where(
        and(
          eq(event.engine_id, engine_id),
          eq(event.log_id, log_id),
          // The same message always has the same time: the partitions of other times are left alone.
          between(event.time, new Date(Math.min(...times)), new Date(Math.max(...times))),
          // One parameter, however many there are.
          sql`${event.seq} = any (${`{${own.map(({ message }) => message.seq).join(',')}}`}::bigint[])`,
        ),
      )
    for (const { seq } of found) known.add(`${log_id} ${seq}`)
  }
  return messages.filter(({ log_id, message: { seq } }) => !known.has(`${log_id} ${seq}`))
}

function rowOf(
  engine_id: string,
  log_id: string,
  { channel_id }: HeardChannel,
  message: Exclude<Durable, { kind: 'picture' }>,
): Row {
  const { kind, seq, time, pts, epoch, data } = message
  const { type = null, picture = null } = kind === 'event' ? data : {}
  return {
    engine_id,
    log_id,
    seq,
    time: new Date(time),
    channel_id,
    kind,
    type: type && storable(type),
    pts,
    epoch,
    data: storable(data),
    picture: picture && /^[\da-f]{64}$/.test(picture) ? picture : null,
  }
}

/** What JSON may hold and Postgres does not keep: NUL, and halves of surrogate pairs. */
const UNSTORABLE = /\\u(0000|d[89a-f][\da-f]{2})/i

/** The same value with what Postgres does not keep replaced by U+FFFD. */
function storable<Value>(value: Value): Value {
  const text = JSON.stringify(value)
  return UNSTORABLE.test(text) ? (mend(value) as Value) : value
}

function mend(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd')
  if (Array.isArray(value)) return value.map(mend)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [mend(key), mend(part)]))
}
