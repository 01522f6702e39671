import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract'
import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { firstRow } from '../../db/rows.ts'
import { engineRequest, FLEET_CHANNEL, lease } from '../../db/schema/index.ts'

// Several management services may run on one database. Each engine is connected to one of them, its
// follower. If another service needs something from the engine, it stores a request in the
// database. The follower serves the request and stores the result.

/** What can be requested for an engine. */
export type RequestKind = 'reconcile' | 'repair'

/** The operations of a connection to an engine that can be requested. */
export interface RequestedLink {
  reconcile(): Promise<void>
  repair(): Promise<void>
}

/** Interval at which the result of a request is polled. */
const POLL_MS = 100
/**
 * How long to wait for a result. In this time, a management service may have to begin to follow the
 * engine before it serves the request.
 */
const TIMEOUT_MS: Record<RequestKind, number> = { reconcile: 5000, repair: 30_000 }
/** Age at which requests are deleted. No service waits for the result of an older request. */
const MAX_AGE_S = 60

/** The name of these transactions in the audit log. */
const OPERATION = 'requests to engines'

const NOT_FOLLOWED =
  'no management service has connected to the engine yet: try again in a few seconds'

/**
 * Requests work on an engine from its follower, and waits for the result. Rejects with `EyrieError`
 * (`unavailable`) if a repair fails. A reconciliation that fails is not reported, because it is
 * repeated anyway.
 */
export async function requestFromFollower(
  database: Database,
  engineId: string,
  kind: RequestKind,
): Promise<void> {
  const requestId = await storeRequest(database, engineId, kind)
  const result: RequestResult =
    requestId === undefined
      ? { failure: NOT_FOLLOWED }
      : await waitForResult(database, requestId, kind)
  if (kind === 'repair' && result !== 'done') throw new EyrieError('unavailable', result.failure)
}

/** `failure` is the reason for the caller. */
type RequestResult = 'done' | { failure: string }

/** Returns the id of the stored request. Undefined if no service follows the engine. */
const storeRequest = (database: Database, engineId: string, kind: RequestKind) =>
  database.system(OPERATION, async tx => {
    const [followed] = await tx.select().from(lease).where(eq(lease.subject, engineId))
    if (!followed) return undefined
    const created = await tx.insert(engineRequest).values({ engine_id: engineId, kind }).returning()
    await tx.execute(sql`select pg_notify(${FLEET_CHANNEL}, ${engineId})`)
    return firstRow(created).request_id
  })

/** Waits for the result of a request. Gives up after `TIMEOUT_MS`. */
async function waitForResult(
  database: Database,
  requestId: string,
  kind: RequestKind,
): Promise<RequestResult> {
  const deadlineMs = performance.now() + TIMEOUT_MS[kind]
  while (performance.now() < deadlineMs) {
    await wait(POLL_MS)
    const [row] = await database.system(OPERATION, tx =>
      tx.select().from(engineRequest).where(eq(engineRequest.request_id, requestId)),
    )
    // The engine was deleted, and the request with it: nothing is left to do.
    if (!row) return 'done'
    if (row.finished_at !== null) return row.failure ? { failure: row.failure } : 'done'
  }
  return { failure: NOT_FOLLOWED }
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
    // An empty failure is stored after success.
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
