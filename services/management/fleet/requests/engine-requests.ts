import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract'
import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { engineRequest, FLEET_CHANNEL, lease } from '../../db/schema/index.ts'

/** What one management service asks the one that follows an engine to do. The database conveys it. */
export type RequestKind = 'reconcile' | 'repair'

/** What serves the requests: the connection to the engine. */
export interface RequestedLink {
  reconcile(): Promise<void>
  repair(): Promise<void>
}

const POLL_MS = 100
/** Longer than a follower needs to start, and to apply a configuration. */
const TIMEOUT_MS: Record<RequestKind, number> = { reconcile: 5000, repair: 30_000 }
/** Requests of processes that have ended meanwhile are deleted. */
const MAX_AGE_S = 60

/** The name of these transactions in the audit log. */
const OPERATION = 'requests to engines'

/**
 * Asks the service that follows an engine to work on it, and waits for the result. Rejects with `EyrieError` (`unavailable`) if a
 * repair fails, or if no service follows the engine; a reconciliation that is not possible now is none.
 */
export async function requestOfFollower(
  database: Database,
  engine_id: string,
  kind: RequestKind,
): Promise<void> {
  const request_id = await storeRequest(database, engine_id, kind)
  const failure = request_id === undefined ? NOT_FOLLOWED : await waitForResult(database, request_id, kind)
  if (kind === 'repair' && failure !== '') throw new EyrieError('unavailable', failure)
}

const NOT_FOLLOWED = 'no management service has connected to the engine yet: try again in a few seconds'

/** Returns the id of the stored request. Undefined if no service follows the engine. */
const storeRequest = (database: Database, engine_id: string, kind: RequestKind) =>
  database.system(OPERATION, async tx => {
    const [followed] = await tx.select().from(lease).where(eq(lease.subject, engine_id))
    if (!followed) return undefined
    const [created] = await tx.insert(engineRequest).values({ engine_id, kind }).returning()
    await tx.execute(sql`select pg_notify(${FLEET_CHANNEL}, ${engine_id})`)
    return created!.request_id
  })

/** Resolves to why the request has failed, or to an empty text. */
async function waitForResult(database: Database, request_id: string, kind: RequestKind): Promise<string> {
  const deadline = performance.now() + TIMEOUT_MS[kind]
  while (performance.now() < deadline) {
    await wait(POLL_MS)
    const [row] = await database.system(OPERATION, tx =>
      tx.select().from(engineRequest).where(eq(engineRequest.request_id, request_id)),
    )
    if (!row || row.finished_at !== null) return row?.failure ?? ''
  }
  return NOT_FOLLOWED
}

/** Does what other services have requested of an engine, and stores the results. */
export async function serveRequests(
  database: Database,
  engine_id: string,
  link: RequestedLink,
): Promise<void> {
  const requests = await database.system(OPERATION, tx =>
    tx
      .select()
      .from(engineRequest)
      .where(and(eq(engineRequest.engine_id, engine_id), isNull(engineRequest.finished_at)))
      .orderBy(engineRequest.request_id),
  )
  for (const { request_id, kind } of requests) {
    const failure = await link[kind]().then(
      () => '',
      (error: Error) => error.message,
    )
    const isOld = lt(engineRequest.requested_at, sql`now() - ${MAX_AGE_S} * interval '1 second'`)
    await database.system(OPERATION, async tx => {
      await tx
        .update(engineRequest)
        .set({ finished_at: sql`now()`, failure })
        .where(eq(engineRequest.request_id, request_id))
      await tx.delete(engineRequest).where(and(eq(engineRequest.engine_id, engine_id), isOld))
    })
  }
}
