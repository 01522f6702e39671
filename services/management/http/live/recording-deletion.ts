import { randomUUID } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { type RecordingsDeleted, recordingsDeleted } from '@eyrie/contract/recording'
import type { Log } from '@eyrie/kit'
import { and, eq } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import { audit, site, source } from '../../db/schema/index.ts'
import { findLocalEngineId } from '../../fleet/registry/local-engine.ts'
import { assertRole, assertScope } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import { findVisibleStreams, type LiveAccessOptions } from './live-access.ts'
import { toRecordingPath, toRecordingQuery } from './recording-routes.ts'
import type { Upstream } from './upstream-client.ts'

export interface RecordingDeletionOptions extends Omit<LiveAccessOptions, 'mayViewWithoutSignIn'> {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  media: Upstream
}

/** Name of the operation in audit entries. */
const OPERATION = '/live/recordings'
/** A slow disk may need minutes for the files of months. */
const DELETION_TIMEOUT_MS = 3_600_000

/**
 * `DELETE /{stream}?from=&to=` deletes recordings of a stream. The caller must be a manager who
 * may see the stream. Deleting always requires sign-in, even on the appliance itself. Every
 * deletion is audited before it begins, so that none goes unrecorded, and its result is added to
 * the entry. The response is the result, even if the database is unavailable by then.
 */
export function createRecordingDeletionRoutes(options: RecordingDeletionOptions): Hono {
  const { identify, findChannels, database, engine, media, log } = options
  const app = new Hono()

  app.delete('/:id', async c => {
    const caller = await identify(c)
    if (!caller) throw new EyrieError('auth', 'sign in to delete recordings')
    assertCanDelete(caller)

    const path = toRecordingPath(c)
    const stream = Number(c.req.param('id'))
    if (caller.role !== 'superadmin') {
      const visibleStreams = await findVisibleStreams(engine, await findChannels(caller))
      if (!visibleStreams.has(stream)) throw new EyrieError('id', `stream ${stream} does not exist`)
    }

    const { from = null, to = null } = c.req.query()
    const deletion = { stream, range: { from, to } }
    const recordResult = await auditDeletion(database(), caller, deletion, log)
    const query = toRecordingQuery(c)
    const deleted = await deleteRecordings(media, path + query).catch(async (error: EyrieError) => {
      // Other files are deleted nevertheless: the value of the error has the numbers.
      await recordResult({ ...error.value, failure: error.message })
      throw error
    })
    await recordResult(deleted)
    return c.json(deleted)
  })

  return app
}

async function deleteRecordings(media: Upstream, path: string): Promise<RecordingsDeleted> {
  const response = await media.fetch(path, { method: 'DELETE', timeoutMs: DELETION_TIMEOUT_MS })
  return recordingsDeleted.parse(await response.json())
}

/**
 * Throws `EyrieError` (`rights`) if the role or the API token does not permit the
 * deletion of recordings.
 */
function assertCanDelete(caller: Principal): void {
  assertRole('deleting recordings requires', 'manager', caller)
  if (caller.scopes) assertScope('deleting recordings requires', 'write', caller.scopes)
}

interface Deletion {
  stream: number
  range: { from: string | null; to: string | null }
}

/**
 * Adds an audit entry for the organization of the source, or for superadmins if the
 * source no longer exists. Resolves to a function that adds the result to the entry. It does not
 * reject: if the database is unavailable, the result is added once it is available again.
 */
async function auditDeletion(
  database: Database,
  { user_id, actor, address }: Principal,
  { stream, range }: Deletion,
  log: Pick<Log, 'error'>,
): Promise<(result: Record<string, unknown>) => Promise<void>> {
  const auditId = randomUUID()
  await database.system(OPERATION, async tx => {
    await tx.insert(audit).values({
      audit_id: auditId,
      user_id,
      actor,
      operation: OPERATION,
      address,
      record: 'recording',
      record_id: String(stream),
      change: 'delete',
      before: range,
      after: null,
      organization_id: await findOrganizationId(tx, stream),
    })
  })
  return async result => {
    const addResult = () =>
      database.system(OPERATION, tx =>
        tx
          .update(audit)
          .set({ before: { ...range, ...result } })
          .where(eq(audit.audit_id, auditId)),
      )
    try {
      await addResult()
    } catch (error) {
      log.error({ err: error, stream, result }, 'failed to add result of deletion to audit entry')
      // If this fails too, or the service ends first, only the log has the result.
      database.retryUntilAvailable(addResult).catch(() => {})
    }
  }
}

/**
 * Returns the organization of the source that a stream shows, or null if the source is not stored.
 */
async function findOrganizationId(tx: Transaction, stream: number): Promise<string | null> {
  const engineId = await findLocalEngineId(tx)
  if (!engineId) return null
  const [row] = await tx
    .select({ organization_id: site.organization_id })
    .from(source)
    .innerJoin(site, eq(site.site_id, source.site_id))
    .where(and(eq(source.engine_id, engineId), eq(source.source_sid, stream)))
  return row?.organization_id ?? null
}
