import { EyrieError } from '@eyrie/contract'
import { recordingsDeleted } from '@eyrie/contract/recording'
import { and, eq } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { audit, site, source } from '../../db/schema/index.ts'
import { findLocalEngineId } from '../../fleet/registry/local-engine.ts'
import { reaches } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import type { Identify } from '../auth/identify-caller.ts'
import { streamsOf } from './live-access.ts'
import { recordingOf, timesOf } from './recording-routes.ts'
import type { Upstream } from './upstream-client.ts'

export interface RecordingDeletionOptions {
  identify: Identify
  /** Ids on this box's engine of the channels that a user sees. */
  channelsOf(caller: Principal): Promise<ReadonlySet<number>>
  /** Throws EyrieError `unavailable` while it is not there. */
  database(): Database
  engine: Upstream
  media: Upstream
}

const OPERATION = '/live/recordings'

/**
 * `DELETE /{stream}?from=&to=`, for managers who may see the stream. Looking is open to whoever is at the box itself; this
 * never is, and it is written down who did it.
 */
export function recordingDeletionRoutes(options: RecordingDeletionOptions): Hono {
  const { identify, channelsOf, database, engine, media } = options
  const app = new Hono()

  app.delete('/:id', async c => {
    const caller = await identify(c)
    if (!caller) throw new EyrieError('auth', 'sign in to delete recordings')
    requireManager(caller)
    const path = recordingOf(c)
    const stream = Number(c.req.param('id'))
    if (caller.role !== 'superadmin' && !(await streamsOf(engine, await channelsOf(caller))).has(stream))
      throw new EyrieError('id', `there is no stream ${stream}`)
    const request = { method: 'DELETE', headers: new Headers(), body: undefined }
    const answer = await media.fetch(path + timesOf(c), request)
    const deleted = recordingsDeleted.parse(await answer.json())
    const { from = null, to = null } = c.req.query()
    await writeDown(database(), caller, stream, { from, to, ...deleted })
    return c.json(deleted)
  })

  return app
}

function requireManager({ role, scopes }: Principal): void {
  if (!reaches(role, 'manager'))
    throw new EyrieError(
      'rights',
      `deleting recordings takes the role manager, and yours is ${role ?? 'none yet'}`,
    )
  if (scopes && !scopes.includes('write'))
    throw new EyrieError('rights', 'this API token does not delete recordings: that takes the scope write')
}

/** An entry of the organization whose source it is; of one that is gone, the superadmin's alone. */
const writeDown = (
  database: Database,
  { user_id, actor }: Principal,
  stream: number,
  before: Record<string, unknown>,
) =>
  database.system(OPERATION, async tx => {
    const engine_id = await findLocalEngineId(tx)
    const [owner] = engine_id
      ? await tx
          .select({ organization_id: site.organization_id })
          .from(source)
          .innerJoin(site, eq(site.site_id, source.site_id))
          .where(and(eq(source.engine_id, engine_id), eq(source.source_sid, stream)))
      : []
    await tx.insert(audit).values({
      ...{ user_id, actor, operation: OPERATION, record: 'recording', record_id: String(stream) },
      ...{ change: 'delete', before, after: null, organization_id: owner?.organization_id ?? null },
    })
  })
