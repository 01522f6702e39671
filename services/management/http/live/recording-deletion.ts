import { EyrieError } from '@eyrie/contract'
import { recordingsDeleted } from '@eyrie/contract/recording'
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

export interface RecordingDeletionOptions
  extends Omit<LiveAccessOptions, 'mayViewWithoutSignIn' | 'log'> {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  media: Upstream
}

/** Name of the operation in audit entries. */
const OPERATION = '/live/recordings'

/**
 * `DELETE /{stream}?from=&to=` deletes recordings of a stream. The caller must be a manager who
 * may see the stream. Deleting always requires sign-in, even on the appliance itself. Every
 * deletion is audited.
 */
export function createRecordingDeletionRoutes(options: RecordingDeletionOptions): Hono {
  const { identify, findChannels, database, engine, media } = options
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

    const response = await media.fetch(path + toRecordingQuery(c), { method: 'DELETE' })
    const deleted = recordingsDeleted.parse(await response.json())

    const { from = null, to = null } = c.req.query()
    await auditDeletion(database(), caller, { stream, details: { from, to, ...deleted } })
    return c.json(deleted)
  })

  return app
}

/**
 * Throws `EyrieError` (`rights`) if the role or the API token does not permit the
 * deletion of recordings.
 */
function assertCanDelete(caller: Principal): void {
  assertRole('deleting recordings requires', 'manager', caller)
  if (caller.scopes) assertScope('deleting recordings requires', 'write', caller.scopes)
}

/**
 * Adds an audit entry for the organization of the source, or for superadmins if the
 * source no longer exists.
 */
async function auditDeletion(
  database: Database,
  { user_id, actor, address }: Principal,
  { stream, details }: { stream: number; details: Record<string, unknown> },
): Promise<void> {
  await database.system(OPERATION, async tx => {
    await tx.insert(audit).values({
      user_id,
      actor,
      operation: OPERATION,
      address,
      record: 'recording',
      record_id: String(stream),
      change: 'delete',
      before: details,
      after: null,
      organization_id: await findOrganizationId(tx, stream),
    })
  })
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
