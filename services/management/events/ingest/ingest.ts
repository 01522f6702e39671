import type { Log } from '@eyrie/kit'
import { and, between, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { engine, engineState, event } from '../../db/schema/index.ts'
import { attachPictures } from '../pictures/event-pictures.ts'
import { computeContribution } from '../statistics/contribution.ts'
import { addToMinutes } from '../statistics/minute-statistics.ts'
import { findIngestChannels, type IngestChannel, storeCounters } from './ingest-channels.ts'
import type { ContributingMessage, Ingest, MessageSubscriber, ReceivedMessage } from './ingest-port.ts'
import {
  advancePosition,
  type DurableMessage,
  type OutputPosition,
  type OutputProgress,
} from './output-position.ts'

export interface IngestOptions {
  database: Database
  subscribers?: readonly MessageSubscriber[]
  log: Log
}

type EventRow = typeof event.$inferInsert
type PictureMessage = Extract<DurableMessage, { kind: 'picture' }>
type StoredMessage = Exclude<DurableMessage, PictureMessage>

/** Rows of one insert, which has a parameter for each column. Postgres accepts 65,535 parameters. */
const MAX_INSERT_ROWS = 2000

/** Stores events, statistics and the output position in one transaction, in which subscribers take part. */
export function createIngest({ database, subscribers = [], log }: IngestOptions): Ingest {
  return {
    async consume(engine_id, received) {
      const { position, gaps } = await database.system('events', tx =>
        store(tx, engine_id, received, subscribers),
      )
      for (const gap of gaps)
        log.warn(
          { engine: await readEngineName(database, engine_id), engine_id, ...gap },
          'engine has dropped messages before they were stored',
        )
      return position.seq
    },
  }
}

async function store(
  tx: Transaction,
  engine_id: string,
  received: readonly ReceivedMessage[],
  subscribers: readonly MessageSubscriber[],
): Promise<OutputProgress> {
  const progress = advancePosition(await lockPosition(tx, engine_id), received)
  const messages = await rejectStored(tx, engine_id, progress.messages)
  const channels = await findIngestChannels(
    tx,
    engine_id,
    messages.map(({ message }) => message),
  )

  const rows: EventRow[] = []
  const contributing: ContributingMessage[] = []
  const pictures: { channel: IngestChannel; message: PictureMessage }[] = []
  for (const { log_id, message } of messages) {
    const channel = message.channel === null ? undefined : channels.get(message.channel)
    if (!channel) continue
    if (message.kind === 'picture') {
      pictures.push({ channel, message })
      continue
    }
    const contribution = computeContribution(message, channel)
    const row = toEventRow(engine_id, log_id, channel, message)
    rows.push({ ...row, statistics: contribution ?? null })
    if (!contribution) continue
    const { epoch = null, pts = null, picture = null } = row
    contributing.push({
      channel_id: channel.channel_id,
      timeMs: row.time.getTime(),
      contribution,
      frame: message.kind === 'event' ? { epoch, pts, picture } : undefined,
    })
  }

  const afterStore: (() => Promise<void>)[] = []
  for (const subscriber of subscribers) afterStore.push(await subscriber.beforeStore(tx, contributing))
  for (let from = 0; from < rows.length; from += MAX_INSERT_ROWS)
    await tx.insert(event).values(rows.slice(from, from + MAX_INSERT_ROWS))
  await addToMinutes(tx, contributing)
  await storeCounters(tx, channels.values())
  for (const notify of afterStore) await notify()
  await attachPictures(tx, pictures)
  await tx.update(engineState).set(progress.position).where(eq(engineState.engine_id, engine_id))
  return progress
}

const readEngineName = (database: Database, engine_id: string) =>
  database.system('events', async tx => {
    const [row] = await tx.select().from(engine).where(eq(engine.engine_id, engine_id))
    return row?.engine_name
  })

/** Returns the stored position; the lock excludes other consumers until the transaction ends. */
async function lockPosition(tx: Transaction, engine_id: string): Promise<OutputPosition> {
  await tx.insert(engineState).values({ engine_id }).onConflictDoNothing()
  const [position] = await tx
    .select({ log_id: engineState.log_id, seq: engineState.seq })
    .from(engineState)
    .where(eq(engineState.engine_id, engine_id))
    .for('update')
  return position!
}

/** Filters out messages that are already stored, in case the position was lost. */
async function rejectStored(
  tx: Transaction,
  engine_id: string,
  messages: OutputProgress['messages'],
): Promise<OutputProgress['messages']> {
  const stored = new Set<string>()
  for (const [log_id, group] of Map.groupBy(messages, ({ log_id }) => log_id)) {
    const times = group.map(({ message }) => Date.parse(message.time))
    const seqs = group.map(({ message }) => message.seq)
    const rows = await tx
      .select({ seq: event.seq })
      .from(event)
      .where(
        and(
          eq(event.engine_id, engine_id),
          eq(event.log_id, log_id),
          // A repeated message has the same time, so only the partitions of these times are searched.
          between(event.time, new Date(Math.min(...times)), new Date(Math.max(...times))),
          // An array is a single parameter.
          sql`${event.seq} = any (${`{${seqs.join(',')}}`}::bigint[])`,
        ),
      )
    for (const { seq } of rows) stored.add(`${log_id} ${seq}`)
  }
  return messages.filter(({ log_id, message: { seq } }) => !stored.has(`${log_id} ${seq}`))
}

function toEventRow(
  engine_id: string,
  log_id: string,
  { channel_id }: IngestChannel,
  message: StoredMessage,
): EventRow {
  const { kind, seq, time, pts, epoch, data } = message
  const { type = null, picture = null } = kind === 'event' ? data : {}
  return {
    engine_id,
    log_id,
    seq,
    time: new Date(time),
    channel_id,
    kind,
    type: type && toStorable(type),
    pts,
    epoch,
    data: toStorable(data),
    picture: picture && /^[\da-f]{64}$/.test(picture) ? picture : null,
  }
}

/** JSON escapes that Postgres does not accept: NUL and unpaired surrogates. */
const UNSTORABLE = /\\u(0000|d[89a-f][\da-f]{2})/i

/** Replaces characters that Postgres does not accept by U+FFFD. */
function toStorable<Value>(value: Value): Value {
  return UNSTORABLE.test(JSON.stringify(value)) ? (replaceUnstorable(value) as Value) : value
}

function replaceUnstorable(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd')
  if (Array.isArray(value)) return value.map(replaceUnstorable)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [replaceUnstorable(key), replaceUnstorable(member)]),
  )
}
