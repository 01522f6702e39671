import { createHash } from 'node:crypto'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import { and, asc, eq, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { isDiskFull } from '../../db/database-errors.ts'
import { BATCH_ROWS } from '../../db/delete-in-batches.ts'
import { picture } from '../../db/schema/index.ts'
import { releaseDeliveries } from '../../deliveries/outbox.ts'
import type { PictureSource } from './picture-source.ts'
import type { PictureStore } from './picture-store.ts'

// Pictures of events are fetched from the engines in the background, because an engine may be
// unreachable for a while.

export interface PictureFetcherOptions {
  database: Database
  source: PictureSource
  store: PictureStore
  log: Log
  /** Aborts the running fetches. Their pictures remain due. */
  signal: AbortSignal
}

type PictureRow = typeof picture.$inferSelect

/** `missing`: the engine does not have the picture. `unstorable`: the disk is full. */
type FetchResult = 'stored' | 'missing' | 'unstorable' | 'failed'

const CONCURRENT_FETCHES = 8
const RETRY_BACKOFF = { initialMs: 1000, maxMs: 300_000 }
/** Delay after a picture could not be stored because the disk is full. */
const FULL_DISK_DELAY_MS = 2_000
/**
 * Retention of the pictures of channels that do not store them: long enough to send the
 * notifications with these pictures.
 */
const SHORT_RETENTION_MS = 86_400_000

/** Fetches pictures until no picture is due. Failed fetches become due again after a back-off. */
export async function fetchPictures(options: PictureFetcherOptions): Promise<void> {
  while (!options.signal.aborted) {
    const due = await findDuePictures(options.database)
    if (due.length === 0) return
    await Promise.all(due.map(row => fetchAndRecord(row, options)))
  }
}

const findDuePictures = (database: Database): Promise<PictureRow[]> =>
  database.system('pictures', tx =>
    tx
      .select()
      .from(picture)
      .where(and(isNotNull(picture.next_attempt), lt(picture.next_attempt, sql`now()`)))
      .orderBy(asc(picture.next_attempt))
      .limit(CONCURRENT_FETCHES),
  )

/** Fetches a picture and records the result. A failed fetch is scheduled again. */
async function fetchAndRecord(row: PictureRow, options: PictureFetcherOptions): Promise<void> {
  const { sha256, attempts } = row
  const { database, signal } = options
  const result = await tryToFetch(row, options)
  // An aborted fetch is not an attempt: the picture remains due.
  if (result === 'failed' && signal.aborted) return

  const isDone = result === 'stored' || result === 'missing'
  const isUnstorable = result === 'unstorable'
  const delayMs = isUnstorable ? FULL_DISK_DELAY_MS : backoffDelayMs(attempts, RETRY_BACKOFF)
  await database.system('pictures', async tx => {
    await tx
      .update(picture)
      .set({
        attempts: isUnstorable ? attempts : attempts + 1,
        fetched_at: result === 'stored' ? sql`now()` : null,
        next_attempt: isDone ? null : sql`now() + ${delayMs} * interval '1 millisecond'`,
      })
      .where(eq(picture.sha256, sha256))
    if (isDone) await releaseDeliveries(tx, sha256)
  })
}

async function tryToFetch(row: PictureRow, options: PictureFetcherOptions): Promise<FetchResult> {
  try {
    return await fetchToStore(row, options)
  } catch (error) {
    const { engine_id, sha256, attempts } = row
    options.log.debug({ err: error, engine_id, sha256, attempts }, 'failed to fetch picture')
    return isDiskFull(error) ? 'unstorable' : 'failed'
  }
}

/**
 * Fetches a picture and stores it as a file. Resolves to `missing` if the engine does
 * not have the picture.
 */
async function fetchToStore(
  { engine_id: engineId, sha256 }: PictureRow,
  { source, store, signal }: PictureFetcherOptions,
): Promise<'stored' | 'missing'> {
  const jpeg = await source.fetch(engineId, sha256, signal)
  if (!jpeg) return 'missing'
  if (createHash('sha256').update(jpeg).digest('hex') !== sha256) {
    throw new Error('the content of the picture does not match its SHA-256')
  }
  await store.write(sha256, jpeg)
  return 'stored'
}

export interface PictureRetention extends Pick<PictureFetcherOptions, 'database' | 'store'> {
  /** Epoch ms. */
  now: number
  retentionMs: number
  signal: AbortSignal
}

/** Removes expired pictures. Rejects if `signal` aborts. */
export async function removeExpiredPictures(retention: PictureRetention): Promise<void> {
  const { database, store, signal } = retention
  for (;;) {
    const expired = await findExpiredPictures(retention)
    if (expired.length === 0) return
    for (const { sha256 } of expired) {
      signal.throwIfAborted()
      // The file is removed before the row. After a crash in between, the next run finds the row
      // again. A file without a row would remain.
      await store.remove(sha256)
      await database.system('retention', tx => tx.delete(picture).where(eq(picture.sha256, sha256)))
    }
  }
}

/** Returns some of the expired pictures, or none if there are none. */
function findExpiredPictures({ database, now, retentionMs }: PictureRetention) {
  const isOlderThan = (ageMs: number) => lt(picture.time, new Date(now - ageMs))
  return database.system('retention', tx =>
    tx
      .select({ sha256: picture.sha256 })
      .from(picture)
      .where(
        or(
          isOlderThan(retentionMs),
          and(eq(picture.is_stored, false), isOlderThan(SHORT_RETENTION_MS)),
          // Pictures that were never fetched, because the engine was deleted or did not have them.
          and(isNull(picture.fetched_at), isOlderThan(SHORT_RETENTION_MS)),
        ),
      )
      .limit(BATCH_ROWS),
  )
}
