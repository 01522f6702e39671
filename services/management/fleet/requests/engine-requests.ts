import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract'
import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { firstRow } from '../../db/rows.ts'
import { engineRequest, FLEET_CHANNEL, lease } from '../../db/schema/index.ts'

// Several management services may run on one database, and each engine is connected to (followed
// by) one of them. A service that needs something from an engine of another service stores a
// request in the database, and waits for the result.

/** What can be requested for an engine. */
export type RequestKind = 'reconcile' | 'repair'

/** The connection to an engine, which carries out the requests. */
export interface RequestedLink {
  reconcile(): Promise<void>
  repair(): Promise<void>
}

const POLL_MS = 100
/**
 * How long to wait for a result: long enough for a management service to begin to follow the
 * engine, and to do the work.
 */
const TIMEOUT_MS: Record<RequestKind, number> = { reconcile: 5000, repair: 30_000 }
/** Older requests are deleted: no service waits for their results any more. */
const MAX_AGE_S = 60

/** The name of these transactions in the audit log. */
const OPERATION = 'requests to engines'

const NOT_FOLLOWED =
  'no management service has connected to the engine yet: try again in a few seconds'

/**
 * Requests work on an engine from the management service that follows it, and waits for the result.
 * Rejects with `EyrieError` (`unavailable`) if a repair fails. A reconciliation that fails is not
 * reported, because it is repeated anyway.
 */
export async function requestFromFollower(
  database: Database,
  engineId: string,
  kind: RequestKind,
): Promise<void> {
  const requestId = await storeRequest(database, engineId, kind)
  const failure =
    requestId === undefined ? NOT_FOLLOWED : await waitForFailure(database, requestId, kind)
  if (kind === 'repair' && failure !== undefined) throw new EyrieError('unavailable', failure)
}

/** Returns the id of the stored request. Undefined if no service follows the engine. */
const storeRequest = (database: Database, engineId: string, kind: RequestKind) =>
  database.system(OPERATION, async tx => {
    const [followed] = await tx.select().from(lease).where(eq(lease.subject, engineId))
    if (!followed) return undefined
    const created = await tx.insert(engineRequest).values({ engine_id: engineId, kind }).returning()
    await tx.execute(sql`select pg_notify(${FLEET_CHANNEL}, ${engineId})`)
    return firstRow(created).request_id
  })

/**
 * Waits for the result of a request. Resolves to why it has failed, or to undefined after success.
 */
async function waitForFailure(
  database: Database,
  requestId: string,
  kind: RequestKind,
): Promise<string | undefined> {
  const deadlineMs = performance.now() + TIMEOUT_MS[kind]
  while (performance.now() < deadlineMs) {
    await wait(POLL_MS)
    const [row] = await database.system(OPERATION, tx =>
      tx.select().from(engineRequest).where(eq(engineRequest.request_id, requestId)),
    )
    // The request is deleted with its engine.
    if (!row) return undefined
    if (row.finished_at !== null) return row.failure || undefined
  }
  return NOT_FOLLOWED
}

/**
 * Does what other management services have requested for an engine, stores the results, and
 * deletes old requests.
 */
export async function serveRequests(
  database: Database,
  engineId: string,
  link: RequestedLink,
): Promise<void> {
  const requests = await database.system(OPERATION, tx =>
    tx
      .select()
      .from(engineRequest)
      .where(and(eq(engineRequest.engine_id, engineId), isNull(engineRequest.finished_at)))
      .orderBy(engineRequest.request_id),
  )
  for (const { request_id: requestId, kind } of requests) {
    const failure = await link[kind]().then(
      () => '',
      (error: Error) => error.message,
    )
    const isOld = lt(engineRequest.requested_at, sql`now() - ${MAX_AGE_S} * interval '1 second'`)
    await database.system(OPERATION, async tx => {
      await tx
        .update(engineRequest)
        .set({ finished_at: sql`now()`, failure })
        .where(eq(engineRequest.request_id, requestId))
      await tx.delete(engineRequest).where(and(eq(engineRequest.engine_id, engineId), isOld))
    })
  }
}
