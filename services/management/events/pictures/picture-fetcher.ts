import { createHash } from 'node:crypto'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import { and, asc, eq, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { picture } from '../../db/schema/index.ts'
import type { PictureStore } from './picture-store.ts'

/** Where pictures come from. */
export interface PictureSource {
  /** A picture that an engine keeps; undefined: not, or no longer. Rejects where the engine cannot be asked. */
  fetch(engine_id: string, sha256: string, signal: AbortSignal): Promise<Uint8Array | undefined>
}

export interface FetcherOptions {
  database: Database
  source: PictureSource
  store: PictureStore
  log: Log
  /** Ends what is under way. */
  signal: AbortSignal
}

type Wanted = typeof picture.$inferSelect

/** So many are fetched at a time. */
const AT_A_TIME = 8
const retry = { initialMs: 1000, maxMs: 300_000 }
/** Until they have been sent: pictures of notifications whose channel stores none. */
const BRIEF_MS = 86_400_000

/** Fetches the pictures that are due, as long as there are any. A fetch that fails is tried again, ever more seldom. */
export async function fetchPictures({ database, source, store, log, signal }: FetcherOptions): Promise<void> {
  while (!signal.aborted) {
    const due = await database.system('pictures', tx =>
      tx
        .select()
        .from(picture)
        .where(and(isNotNull(picture.next_attempt), lt(picture.next_attempt, sql`now()`)))
        .orderBy(asc(picture.next_attempt))
        .limit(AT_A_TIME),
    )
    if (due.length === 0) return
    await Promise.all(due.map(wanted => fetchOne(wanted)))
  }

  async function fetchOne({ sha256, engine_id, attempts }: Wanted): Promise<void> {
    const result = await get(engine_id, sha256).catch((error: Error) => {
      log.debug({ err: error, engine_id, sha256, attempts }, 'a picture cannot be fetched')
      return 'failed' as const
    })
    // What was only cut short stays due.
    if (signal.aborted && result === 'failed') return
    const again = sql`now() + ${backoffDelayMs(attempts, retry)} * interval '1 millisecond'`
    await database.system('pictures', tx =>
      tx
        .update(picture)
        .set({
          attempts: attempts + 1,
          fetched_at: result === 'kept' ? sql`now()` : null,
          next_attempt: result === 'failed' ? again : null,
        })
        .where(eq(picture.sha256, sha256)),
    )
  }

  async function get(engine_id: string, sha256: string): Promise<'kept' | 'gone'> {
    const jpeg = await source.fetch(engine_id, sha256, signal)
    if (!jpeg) return 'gone'
    if (createHash('sha256').update(jpeg).digest('hex') !== sha256)
      throw new Error('the engine has sent another picture than was asked for')
    await store.keep(sha256, jpeg)
    return 'kept'
  }
}

/** Removes pictures that are older than the retention, and those that were kept only to be sent. */
export async function removeOldPictures(
  database: Database,
  store: PictureStore,
  now: number,
  retentionMs: number,
): Promise<void> {
  const old = await database.system('retention', tx =>
    tx
      .select({ sha256: picture.sha256 })
      .from(picture)
      .where(
        or(
          lt(picture.time, new Date(now - retentionMs)),
          and(eq(picture.is_stored, false), lt(picture.time, new Date(now - BRIEF_MS))),
          // Of an engine that is gone nothing more can come.
          and(isNull(picture.fetched_at), lt(picture.time, new Date(now - BRIEF_MS))),
        ),
      ),
  )
  for (const { sha256 } of old) {
    // The file first: whatever happens in between, no file is forgotten.
    await store.remove(sha256)
    await database.system('retention', tx => tx.delete(picture).where(eq(picture.sha256, sha256)))
  }
}
