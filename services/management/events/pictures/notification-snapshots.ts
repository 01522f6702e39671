import { createHash } from 'node:crypto'
import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import type { Log } from '@eyrie/kit'
import { asc, eq, lt, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { channel, notification, picture } from '../../db/schema/index.ts'
import { releaseWithoutPicture } from '../../deliveries/outbox.ts'
import { attachToNotifications } from './nearest-picture.ts'
import type { SnapshotSource } from './picture-source.ts'
import type { PictureStore } from './picture-store.ts'

// Not every notification has the picture of an event: an alert may also fire because of a count,
// or because time has passed. For such a notification a snapshot, the picture of a channel at a
// given time, is requested from the engine. Engines retain pictures for a short time only, so
// that must happen soon.

export interface SnapshotOptions {
  database: Database
  source: SnapshotSource
  store: PictureStore
  log: Log
  /** Aborts the running requests. Their snapshots remain due. */
  signal: AbortSignal
}

/** Number of channels whose snapshots are requested at the same time. */
const CONCURRENT_CHANNELS = 8
/** Maximum number of snapshots that are read from the database at a time. */
const MAX_BATCH = 100
/** Time after which a failed request is sent again. */
const RETRY_MS = 1_000
/** Engines retain pictures for a minute at most (setting `snapshot_s`). */
const MAX_AGE_MS = 60_000

/** A notification for which a snapshot is due. */
type DueSnapshot = Awaited<ReturnType<typeof findDueSnapshots>>[number]

/** `missing`: the engine has no picture of this moment. `takenMs` is in epoch ms. */
type FetchResult =
  | { status: 'attached'; takenMs: number }
  | { status: 'missing' }
  | { status: 'failed' }

/**
 * Requests snapshots until none is due. Failed requests become due again while the engine
 * may have the picture.
 */
export async function fetchSnapshots(options: SnapshotOptions): Promise<void> {
  while (!options.signal.aborted) {
    const due = await findDueSnapshots(options.database)
    if (due.length === 0) return
    const dueByChannel = Map.groupBy(due, ({ channel_id }) => channel_id)
    // An iterator that all workers share: each channel is handled by one of them.
    const remainingChannels = dueByChannel.values()
    const fetchRemainingChannels = async () => {
      for (const rows of remainingChannels) await fetchForChannel(rows, options)
    }
    await Promise.all(Array.from({ length: CONCURRENT_CHANNELS }, fetchRemainingChannels))
  }
}

const findDueSnapshots = (database: Database) =>
  database.system('pictures', tx =>
    tx
      .select({
        notification_uuid: notification.notification_uuid,
        time: notification.notification_time,
        channel_id: channel.channel_id,
        engine_id: channel.engine_id,
        channel_sid: channel.channel_sid,
        is_storage: channel.is_storage,
        isTooOld: sql<boolean>`
          ${notification.notification_time} < now() - ${MAX_AGE_MS} * interval '1 millisecond'`,
      })
      .from(notification)
      .innerJoin(channel, eq(channel.channel_id, notification.channel_id))
      .where(lt(notification.next_snapshot, sql`now()`))
      .orderBy(asc(notification.next_snapshot))
      .limit(MAX_BATCH),
  )

/**
 * Requests the snapshots of a channel one after the other. Notifications within a second of a
 * snapshot share it, so that the engine does not have to create a picture for each notification of
 * a burst. After a failed request the remaining requests are not sent: they count as failed too.
 */
async function fetchForChannel(
  rows: readonly DueSnapshot[],
  options: SnapshotOptions,
): Promise<void> {
  const { database, signal } = options
  /** When the snapshots that were fetched here were taken, in epoch ms. */
  const takenTimesMs: number[] = []
  let result: FetchResult | undefined
  for (const row of rows) {
    const isNear = (takenMs: number) =>
      Math.abs(takenMs - row.time.getTime()) <= MAX_PICTURE_OFFSET_MS
    // `fetchAndAttach` has attached the nearby snapshot to this notification too.
    if (takenTimesMs.some(isNear)) continue

    if (result?.status !== 'failed') result = await tryToFetch(row, options)
    // An aborted request remains due.
    if (result.status === 'failed' && signal.aborted) return

    if (result.status === 'attached') takenTimesMs.push(result.takenMs)
    const isRetried = result.status === 'failed' && !row.isTooOld
    if (isRetried) await scheduleRetry(database, row)
    else await finish(database, row)
  }
}

/** Resolves to `failed` if the request fails or the snapshot cannot be stored. */
async function tryToFetch(row: DueSnapshot, options: SnapshotOptions): Promise<FetchResult> {
  try {
    return await fetchAndAttach(row, options)
  } catch (error) {
    const { engine_id, notification_uuid } = row
    options.log.debug(
      { err: error, engine_id, notification_uuid },
      'failed to fetch snapshot of notification',
    )
    return { status: 'failed' }
  }
}

const scheduleRetry = (
  database: Database,
  { notification_uuid: notificationUuid }: DueSnapshot,
): Promise<unknown> =>
  database.system('pictures', tx =>
    tx
      .update(notification)
      .set({ next_snapshot: sql`now() + ${RETRY_MS} * interval '1 millisecond'` })
      .where(eq(notification.notification_uuid, notificationUuid)),
  )

/**
 * Records that no snapshot is due any more for a notification. Its deliveries that still wait for a
 * picture become due without one.
 */
const finish = (
  database: Database,
  { notification_uuid: notificationUuid }: DueSnapshot,
): Promise<void> =>
  database.system('pictures', async tx => {
    await tx
      .update(notification)
      .set({ next_snapshot: null })
      .where(eq(notification.notification_uuid, notificationUuid))
    await releaseWithoutPicture(tx, notificationUuid)
  })

/** Stores the snapshot as a file and attaches it to the notifications near it. */
async function fetchAndAttach(
  {
    channel_id: channelId,
    engine_id: engineId,
    channel_sid: channelSid,
    is_storage: isStorage,
    time,
  }: DueSnapshot,
  { database, source, store, signal }: SnapshotOptions,
): Promise<FetchResult> {
  // The channel does not exist on the engine.
  if (channelSid === null) return { status: 'missing' }
  const snapshot = await source.fetchSnapshot(
    { engine_id: engineId, channel_sid: channelSid },
    time.getTime(),
    signal,
  )
  if (!snapshot) return { status: 'missing' }

  const { jpeg, takenMs } = snapshot
  const sha256 = createHash('sha256').update(jpeg).digest('hex')
  // The row is stored before the file. After a crash in between there is a row without a file,
  // which the retention removes. A file without a row would remain.
  await database.system('pictures', tx =>
    tx
      .insert(picture)
      .values({ sha256, engine_id: engineId, time, is_stored: isStorage })
      .onConflictDoNothing(),
  )
  await store.write(sha256, jpeg)
  await database.system('pictures', async tx => {
    await tx
      .update(picture)
      .set({ fetched_at: sql`now()`, next_attempt: null })
      .where(eq(picture.sha256, sha256))
    await attachToNotifications(tx, [{ channel_id: channelId, sha256, takenMs }])
  })
  return { status: 'attached', takenMs }
}
