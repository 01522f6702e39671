import { createHash } from 'node:crypto'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import { and, asc, eq, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { picture } from '../../db/schema/index.ts'
import type { PictureSource } from './picture-source.ts'
import type { PictureStore } from './picture-store.ts'

export interface PictureFetcherOptions {
  database: Database
  source: PictureSource
  store: PictureStore
  log: Log
  /** Aborts running fetches; they remain due. */
  signal: AbortSignal
}

const CONCURRENT_FETCHES = 8
const retryBackoff = { initialMs: 1000, maxMs: 300_000 }
/** Retention of pictures that are not stored for longer: long enough to send their notifications. */
const SHORT_RETENTION_MS = 86_400_000

/** Fetches pictures until none is due. Failed fetches are retried with back-off. */
export async function fetchPictures({
  database,
  source,
  store,
  log,
  signal,
}: PictureFetcherOptions): Promise<void> {
  while (!signal.aborted) {
    const due = await database.system('pictures', tx =>
      tx
        .select()
        .from(picture)
        .where(and(isNotNull(picture.next_attempt), lt(picture.next_attempt, sql`now()`)))
        .orderBy(asc(picture.next_attempt))
        .limit(CONCURRENT_FETCHES),
    )
    if (due.length === 0) return
    await Promise.all(due.map(row => fetchAndRecord(row)))
  }

  async function fetchAndRecord({ sha256, engine_id, attempts }: typeof picture.$inferSelect): Promise<void> {
    const result = await fetchToStore(engine_id, sha256).catch((error: Error) => {
      log.debug({ err: error, engine_id, sha256, attempts }, 'failed to fetch picture')
      return 'failed' as const
    })
    if (result === 'failed' && signal.aborted) return
    const nextAttempt = sql`now() + ${backoffDelayMs(attempts, retryBackoff)} * interval '1 millisecond'`
    await database.system('pictures', tx =>
      tx
        .update(picture)
        .set({
          attempts: attempts + 1,
          fetched_at: result === 'stored' ? sql`now()` : null,
          next_attempt: result === 'failed' ? nextAttempt : null,
        })
        .where(eq(picture.sha256, sha256)),
    )
  }

  async function fetchToStore(engine_id: string, sha256: string): Promise<'stored' | 'missing'> {
    const jpeg = await source.fetch(engine_id, sha256, signal)
    if (!jpeg) return 'missing'
    if (createHash('sha256').update(jpeg).digest('hex') !== sha256)
      throw new Error('the content of the picture does not match its SHA-256')
    await store.write(sha256, jpeg)
    return 'stored'
  }
}

/** Removes pictures whose retention has expired. `now` is in epoch ms. */
export async function removeExpiredPictures(
  database: Database,
  store: PictureStore,
  now: number,
  retentionMs: number,
): Promise<void> {
  const isOlderThan = (ageMs: number) => lt(picture.time, new Date(now - ageMs))
  const expired = await database.system('retention', tx =>
    tx
      .select({ sha256: picture.sha256 })
      .from(picture)
      .where(
        or(
          isOlderThan(retentionMs),
          and(eq(picture.is_stored, false), isOlderThan(SHORT_RETENTION_MS)),
          // Never fetched: its engine has been deleted or no longer has it.
          and(isNull(picture.fetched_at), isOlderThan(SHORT_RETENTION_MS)),
        ),
      ),
  )
  for (const { sha256 } of expired) {
    // The file first: a crash in between leaves a row, never an orphaned file.
    await store.remove(sha256)
    await database.system('retention', tx => tx.delete(picture).where(eq(picture.sha256, sha256)))
  }
}
