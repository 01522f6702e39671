import type { Log } from '@eyrie/kit'
import { and, between, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { isUnstorable } from '../../db/database-errors.ts'
import { firstRow } from '../../db/rows.ts'
import { engineState, event } from '../../db/schema/index.ts'
import { toStorable } from '../../db/storable-json.ts'
import { addToLiveCounts } from '../../feed/live-counts.ts'
import { attachPictures } from '../pictures/event-pictures.ts'
import { computeContribution, OCCUPANCY_AVERAGE } from '../statistics/contribution.ts'
import { addToRollUps } from '../statistics/roll-ups.ts'
import { recordSuccessions } from './former-channels.ts'
import { findIngestChannels, type IngestChannel, storeCounters } from './ingest-channels.ts'
import type {
  ContributingMessage,
  Ingest,
  MessageSubscriber,
  ReceivedMessage,
} from './ingest-port.ts'
import { createIngestReports, type IgnoredPart } from './ingest-reports.ts'
import {
  advancePosition,
  type DurableMessage,
  type OutputPosition,
  type OutputProgress,
} from './output-position.ts'

/**
 * The number of messages that were skipped one after the other from which all are considered lost.
 * Fewer may be those of one defective plugin.
 */
const MIN_LOST_MESSAGES = 10
const UNSTORABLE_TEXT = 'a text contains NUL or half of a surrogate pair'
const SHA256_HEX = /^[\da-f]{64}$/

export interface IngestOptions {
  database: Database
  subscribers?: readonly MessageSubscriber[]
  log: Log
  /** Returns the time of a monotonic clock in ms. */
  now?: () => number
}

type EventRow = typeof event.$inferInsert
type PictureMessage = Extract<DurableMessage, { kind: 'picture' }>
type StoredMessage = Exclude<DurableMessage, PictureMessage>

/**
 * Creates the ingest, which stores the messages of engines: events, statistics, and the position in
 * the engine's output up to which messages are stored. Each batch of messages is one transaction,
 * in which subscribers such as the alerts also run. A message that cannot be stored because of its
 * content is skipped and logged, because the messages after it would otherwise wait for ever.
 */
export function createIngest({
  database,
  subscribers = [],
  log,
  now = () => performance.now(),
}: IngestOptions): Ingest {
  const reports = createIngestReports(database, log, now)
  const losses = new Map<string, Losses>()

  const store = (engineId: string, messages: readonly ReceivedMessage[]) =>
    database.system('events', tx => storeMessages(tx, engineId, messages, subscribers), {
      isPlannedAnew: true,
    })

  /**
   * Stores messages in order. If they cannot be stored, stores each half on its own, so that only
   * the messages are skipped which cannot be stored even alone.
   */
  async function storeOrSkip(
    engineId: string,
    messages: readonly ReceivedMessage[],
  ): Promise<OutputPosition> {
    let stored: StoredBatch
    try {
      stored = await store(engineId, messages)
    } catch (error) {
      if (!isUnstorable(error)) throw error
      if (messages.length <= 1) return skip(engineId, messages[0], error)
      const middle = Math.ceil(messages.length / 2)
      await storeOrSkip(engineId, messages.slice(0, middle))
      return storeOrSkip(engineId, messages.slice(middle))
    }
    if (stored.eventCount > 0) losses.set(engineId, { skipped: 0, areAll: false })
    await reports.reportGaps(engineId, stored.gaps)
    await reports.reportIgnored(engineId, stored.ignored)
    return stored.position
  }

  /** Advances the position past a message that cannot be stored because of `error`. */
  async function skip(
    engineId: string,
    message: ReceivedMessage | undefined,
    error: unknown,
  ): Promise<OutputPosition> {
    // Without the id of the log, the messages after it would be stored as those of another log.
    if (!message || message.kind === 'hello' || message.kind === 'gap') throw error
    const { seq } = message
    const { position } = await store(engineId, [{ kind: 'gap', from: seq, to: seq }])
    losses.set(engineId, addLoss(losses.get(engineId)))
    await reports.reportSkipped(engineId, message, error)
    return position
  }

  return {
    async consume(engineId, received) {
      const { seq } = await storeOrSkip(engineId, received)
      return seq
    },
    areEventsLost: engineId => losses.get(engineId)?.areAll,
  }
}

/** The messages of an engine that cannot be stored. */
interface Losses {
  /** How many were skipped since an event was stored. */
  skipped: number
  /** Whether all events are lost. Undefined while too few messages are known. */
  areAll: boolean | undefined
}

function addLoss(previous: Losses | undefined): Losses {
  const skipped = (previous?.skipped ?? 0) + 1
  return { skipped, areAll: skipped >= MIN_LOST_MESSAGES || previous?.areAll }
}

/** The result of storing a batch of messages. */
interface StoredBatch extends OutputProgress {
  eventCount: number
  ignored: IgnoredPart[]
}

/** The parts of a batch of messages that are stored in different tables. */
interface Batch {
  events: EventRow[]
  contributing: ContributingMessage[]
  pictures: { channel_id: string; message: PictureMessage }[]
  ignored: IgnoredPart[]
}

async function storeMessages(
  tx: Transaction,
  engineId: string,
  received: readonly ReceivedMessage[],
  subscribers: readonly MessageSubscriber[],
): Promise<StoredBatch> {
  const storedPosition = await lockPosition(tx, engineId)
  const progress = advancePosition(storedPosition, received)
  const newMessages = await filterNew(tx, engineId, progress.messages)
  const sids = newMessages.map(({ message }) => message)
  const channels = await findIngestChannels(
    tx,
    { engine_id: engineId, log_id: progress.position.log_id },
    sids,
  )
  await recordSuccessions(tx, newMessages, channels)
  const batch = createBatch(engineId, newMessages, channels)
  const { events, contributing, pictures, ignored } = batch

  const afterStoreCallbacks: (() => Promise<void>)[] = []
  for (const subscriber of subscribers) {
    afterStoreCallbacks.push(await subscriber.beforeStore(tx, contributing))
  }

  await insertEvents(tx, events)
  const added = await addToRollUps(tx, contributing)
  // The moving average is not a live count: it changes all the time, even if no message arrives.
  const liveCounts = added.filter(({ key }) => key !== OCCUPANCY_AVERAGE)
  await addToLiveCounts(tx, liveCounts)
  await storeCounters(tx, engineId, channels.values())
  for (const afterStore of afterStoreCallbacks) await afterStore()

  // Last, because pictures may belong to events and notifications that have just been stored.
  await attachPictures(tx, { events, messages: pictures })
  await tx.update(engineState).set(progress.position).where(eq(engineState.engine_id, engineId))
  return { ...progress, eventCount: events.length, ignored }
}

/**
 * Inserts events as one JSON parameter. One parameter for each column of each row would take most
 * of the time of the ingest.
 */
async function insertEvents(tx: Transaction, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.execute(sql`
    insert into event (
      engine_id, log_id, seq, time, channel_id, kind, type, pts, epoch, data, statistics,
      picture, picture_offset
    )
    select
      engine_id, log_id, seq, time, channel_id, kind, type, pts, epoch, data, statistics,
      picture, picture_offset
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as rows (
      engine_id uuid,
      log_id text,
      seq bigint,
      time timestamptz,
      channel_id uuid,
      kind text,
      type text,
      pts bigint,
      epoch bigint,
      data jsonb,
      statistics jsonb,
      picture text,
      picture_offset int
    )`)
}

/**
 * Splits messages by table and updates the counters of `channels`. Messages of unknown
 * channels are skipped.
 */
function createBatch(
  engineId: string,
  messages: OutputProgress['messages'],
  channels: ReadonlyMap<number, IngestChannel>,
): Batch {
  const batch: Batch = { events: [], contributing: [], pictures: [], ignored: [] }
  for (const { log_id: logId, message } of messages) {
    const channel = message.channel === null ? undefined : channels.get(message.channel)
    if (!channel) continue
    const { acceptedBeforeMs = Number.POSITIVE_INFINITY } = channel
    if (Date.parse(message.time) >= acceptedBeforeMs) continue

    if (message.kind === 'picture') {
      batch.pictures.push({ channel_id: channel.channel_id, message })
      continue
    }

    const onIgnored = (reason: string) =>
      batch.ignored.push({ channel_id: channel.channel_id, seq: message.seq, reason })
    const storable = { ...message, data: toStorable(message.data) } as StoredMessage
    if (storable.data !== message.data) onIgnored(UNSTORABLE_TEXT)
    const contribution = computeContribution(storable, channel, onIgnored)
    const row = toEventRow(engineId, logId, channel, storable)
    batch.events.push({ ...row, statistics: contribution ?? null })

    if (!contribution) continue
    const { pts, epoch } = storable
    const box = storable.kind === 'event' ? storable.data.bbox : undefined
    batch.contributing.push({
      channel_id: channel.channel_id,
      timeMs: row.time.getTime(),
      contribution,
      frame: { epoch, pts, bbox: box ?? null },
    })
  }
  return batch
}

/** Returns the stored position, and locks it until the transaction ends. */
async function lockPosition(tx: Transaction, engineId: string): Promise<OutputPosition> {
  await tx.insert(engineState).values({ engine_id: engineId }).onConflictDoNothing()
  const rows = await tx
    .select({ log_id: engineState.log_id, seq: engineState.seq })
    .from(engineState)
    .where(eq(engineState.engine_id, engineId))
    .for('update')
  return firstRow(rows)
}

/**
 * Removes messages that are already stored. The engine repeats messages if the
 * stored position was lost.
 */
async function filterNew(
  tx: Transaction,
  engineId: string,
  messages: OutputProgress['messages'],
): Promise<OutputProgress['messages']> {
  const toId = (logId: string, seq: number) => `${logId} ${seq}`
  const storedIds = new Set<string>()
  for (const [logId, logMessages] of Map.groupBy(messages, ({ log_id }) => log_id)) {
    const times = logMessages.map(({ message }) => Date.parse(message.time))
    const seqs = logMessages.map(({ message }) => message.seq)
    const rows = await tx
      .select({ seq: event.seq })
      .from(event)
      .where(
        and(
          eq(event.engine_id, engineId),
          eq(event.log_id, logId),
          between(event.seq, Math.min(...seqs), Math.max(...seqs)),
          // A repeated message has the same time, so Postgres searches only the
          // partitions of these times.
          between(event.time, new Date(Math.min(...times)), new Date(Math.max(...times))),
        ),
      )
    for (const { seq } of rows) storedIds.add(toId(logId, seq))
  }
  return messages.filter(({ log_id, message }) => !storedIds.has(toId(log_id, message.seq)))
}

function toEventRow(
  engineId: string,
  logId: string,
  { channel_id }: IngestChannel,
  message: StoredMessage,
): EventRow {
  const { kind, seq, time, pts, epoch, data } = message
  // Only events have a type, and a picture if the engine took one.
  const {
    type = null,
    picture = null,
    picture_offset: pictureOffset = null,
  } = kind === 'event' ? data : {}
  const hasPicture = picture !== null && SHA256_HEX.test(picture)
  return {
    engine_id: engineId,
    log_id: logId,
    seq,
    time: new Date(time),
    channel_id,
    kind,
    type,
    pts,
    epoch,
    data,
    picture: hasPicture ? picture : null,
    picture_offset: hasPicture ? pictureOffset : null,
  }
}
