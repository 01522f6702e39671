import type { Log } from '@eyrie/kit'
import { and, between, eq, sql } from 'drizzle-orm'
import { notify } from '../alerts/notify.ts'
import { type Contributed, lookAtMessages } from '../alerts/on-messages.ts'
import type { Database, Transaction } from '../db/open.ts'
import { engine, engineState, event } from '../db/schema/index.ts'
import { type HeardChannel, heardChannels, keepCounters } from './channels.ts'
import { contributionOf } from './contribution.ts'
import { addToMinutes } from './minutes.ts'
import { joinPictures } from './pictures/join.ts'
import { type Durable, type Place, type Taken, take } from './place.ts'
import type { Ingest, ReceivedMessage } from './port.ts'
import { storable } from './storable.ts'

export interface IngestOptions {
  database: Database
  log: Log
}

type Row = typeof event.$inferInsert

/** Rows of one statement; a parameter each column. */
const MOST_ROWS = 2000

/** Stores the output of engines: rows, statistics, what alerts make of them, and the place, in one transaction. */
export function createIngest({ database, log }: IngestOptions): Ingest {
  return {
    async consume(engine_id, received) {
      const { place, gaps } = await database.system('events', tx => store(tx, engine_id, received))
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
): Promise<Taken> {
  const taken = take(await placeOf(tx, engine_id), received)
  const messages = await unknown(tx, engine_id, taken.messages)
  const channels = await heardChannels(
    tx,
    engine_id,
    messages.map(({ message }) => message),
  )
  const rows: Row[] = []
  const contributed: Contributed[] = []
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
  const fired = await lookAtMessages(tx, contributed)
  for (let from = 0; from < rows.length; from += MOST_ROWS)
    await tx.insert(event).values(rows.slice(from, from + MOST_ROWS))
  await addToMinutes(tx, contributed)
  await keepCounters(tx, channels.values())
  await notify(tx, fired)
  await joinPictures(tx, pictures)
  await tx.update(engineState).set(taken.place).where(eq(engineState.engine_id, engine_id))
  return taken
}

const nameOf = (database: Database, engine_id: string) =>
  database.system('events', async tx => {
    const [known] = await tx.select().from(engine).where(eq(engine.engine_id, engine_id))
    return known?.engine_name
  })

/** Where the engine's output has been followed to; nobody else follows it until the transaction ends. */
async function placeOf(tx: Transaction, engine_id: string): Promise<Place> {
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
