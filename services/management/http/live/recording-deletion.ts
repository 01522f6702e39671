import { EyrieError } from '@eyrie/contract'
import { recordingsDeleted } from '@eyrie/contract/recording'
import { and, eq } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import { audit, site, source } from '../../db/schema/index.ts'
import { findLocalEngineId } from '../../fleet/registry/local-engine.ts'
import { includesRole } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import { findStreams, type LiveAccessOptions } from './live-access.ts'
import { toRecordingPath, toTimeQuery } from './recording-routes.ts'
import type { Upstream } from './upstream-client.ts'

export interface RecordingDeletionOptions extends Omit<LiveAccessOptions, 'isOpen'> {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  media: Upstream
}

const OPERATION = '/live/recordings'

/**
 * `DELETE /{stream}?from=&to=` deletes recordings, for managers who may see the stream. Unlike viewing, it always requires
 * sign-in, even on the appliance itself. Every deletion is audited.
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
      const visible = await findStreams(engine, await findChannels(caller))
      if (!visible.has(stream)) throw new EyrieError('id', `there is no stream ${stream}`)
    }
    const request = { method: 'DELETE', headers: new Headers(), body: undefined }
    const answer = await media.fetch(path + toTimeQuery(c), request)
    const deleted = recordingsDeleted.parse(await answer.json())
    const { from = null, to = null } = c.req.query()
    await auditDeletion(database(), caller, stream, { from, to, ...deleted })
    return c.json(deleted)
  })

  return app
}

function assertCanDelete({ role, scopes }: Principal): void {
  if (!includesRole(role, 'manager'))
    throw new EyrieError(
      'rights',
      `deleting recordings requires the role manager, and yours is ${role ?? 'none yet'}`,
    )
  if (scopes && !scopes.includes('write'))
    throw new EyrieError('rights', 'deleting recordings requires the scope write, which this API token lacks')
}

/** Adds an audit entry to the organization of the source. If the source was deleted, only superadmins see the entry. */
async function auditDeletion(
  database: Database,
  { user_id, actor }: Principal,
  stream: number,
  before: Record<string, unknown>,
): Promise<void> {
  await database.system(OPERATION, async tx => {
    await tx.insert(audit).values({
      user_id,
      actor,
      operation: OPERATION,
      record: 'recording',
      record_id: String(stream),
      change: 'delete',
      before,
      after: null,
      organization_id: await findOrganizationId(tx, stream),
    })
  })
}

async function findOrganizationId(tx: Transaction, stream: number): Promise<string | null> {
  const engine_id = await findLocalEngineId(tx)
  if (!engine_id) return null
  const [row] = await tx
    .select({ organization_id: site.organization_id })
    .from(source)
    .innerJoin(site, eq(site.site_id, source.site_id))
    .where(and(eq(source.engine_id, engine_id), eq(source.source_sid, stream)))
  return row?.organization_id ?? null
}
