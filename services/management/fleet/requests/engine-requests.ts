import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract'
import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
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
const NOT_SERVED =
  'the management service of the engine has not answered in time: try again in a few seconds'

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
  const failure =
    requestId === undefined ? NOT_FOLLOWED : await waitForResult(database, requestId, kind)
  if (failure !== '' && kind === 'repair') throw new EyrieError('unavailable', failure)
}

/**
 * Stores a request, and notifies the follower. Returns the id of the request, or undefined if no
 * service follows the engine.
 */
const storeRequest = (database: Database, engineId: string, kind: RequestKind) =>
  database.system(OPERATION, async tx => {
    const [followerLease] = await tx.select().from(lease).where(eq(lease.subject, engineId))
    if (!followerLease) return undefined
    const created = await tx.insert(engineRequest).values({ engine_id: engineId, kind }).returning()
    await tx.execute(sql`select pg_notify(${FLEET_CHANNEL}, ${engineId})`)
    return firstRow(created).request_id
  })

/**
 * Waits for the result of a request, for `TIMEOUT_MS` at most. Returns why it has failed, or an
 * empty text after success.
 */
async function waitForResult(
  database: Database,
  requestId: string,
  kind: RequestKind,
): Promise<string> {
  const deadlineMs = performance.now() + TIMEOUT_MS[kind]
  while (performance.now() < deadlineMs) {
    await wait(POLL_MS)
    const [row] = await database.system(OPERATION, tx =>
      tx.select().from(engineRequest).where(eq(engineRequest.request_id, requestId)),
    )
    // The engine was deleted, and the request with it: nothing is left to do.
    if (!row) return ''
    if (row.finished_at !== null) return row.failure ?? ''
  }
  return NOT_SERVED
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
  for (const { request_id, kind } of requests) {
    const failure = await serve(link, kind)
    await database.system(OPERATION, async tx => {
      await tx
        .update(engineRequest)
        .set({ finished_at: sql`now()`, failure })
        .where(eq(engineRequest.request_id, request_id))
      await deleteOldRequests(tx, engineId)
    })
  }
}

/** Does what was requested. Returns why it has failed, or an empty text after success. */
async function serve(link: RequestedLink, kind: RequestKind): Promise<string> {
  try {
    await link[kind]()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const deleteOldRequests = (tx: Transaction, engineId: string) =>
  tx
    .delete(engineRequest)
    .where(
      and(
        eq(engineRequest.engine_id, engineId),
        lt(engineRequest.requested_at, sql`now() - ${MAX_AGE_S} * interval '1 second'`),
      ),
    )
