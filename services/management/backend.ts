import { resolve } from 'node:path'
import { type Log, readSettings } from '@eyrie/kit'
import type { Hono } from 'hono'
import type { Database } from './db/open.ts'
import { createEvents, type Events } from './events/events.ts'
import type { Timing } from './fleet/connection/engine-link.ts'
import { createFleet, type RunningFleet } from './fleet/fleet.ts'
import { openLiveView } from './fleet/live-views.ts'
import { readRecord } from './fleet/registry/engine-record.ts'
import type { LocalEngine } from './fleet/registry/local-engine.ts'
import { createApi } from './http/api/api-routes.ts'
import type { FindView } from './http/live/ticket-view-routes.ts'
import { aclOperations } from './http/operations/administration/acl-operations.ts'
import { configOperations } from './http/operations/administration/delivery-settings-operations.ts'
import { imageOperations } from './http/operations/administration/image-operations.ts'
import { staticContentOperations } from './http/operations/administration/static-content-operations.ts'
import { channelOperations } from './http/operations/analytics/channel-operations.ts'
import { engineOperations } from './http/operations/analytics/engine-operations.ts'
import { mediaOperations } from './http/operations/analytics/media-ticket-operation.ts'
import { pipelineOperations } from './http/operations/analytics/pipeline-operations.ts'
import { sourceOperations } from './http/operations/analytics/source-operations.ts'
import { usecaseOperations } from './http/operations/analytics/usecase-operations.ts'
import { customerOperations } from './http/operations/hierarchy/customer-operations.ts'
import { customerViewOperations } from './http/operations/hierarchy/customer-view-operations.ts'
import { deviceOperations } from './http/operations/hierarchy/device-operations.ts'
import { organizationOperations } from './http/operations/hierarchy/organization-operations.ts'
import { siteOperations } from './http/operations/hierarchy/site-operations.ts'
import { createImageStore } from './images/image-store.ts'
import { readSecrets } from './secrets/secrets.ts'
import { createUsers, type Users } from './users/users.ts'

export interface BackendOptions {
  /** Throws EyrieError `unavailable` while it is not there. */
  database(): Database
  /** Folder of the appliance's data. */
  data: string
  log: Log
  now?: () => Date
  /** The engine of this box. */
  localEngine?: LocalEngine
  /** How often engines are looked at. */
  timing?: Partial<Timing>
}

const DAY_MS = 86_400_000

/** What stands behind the management API. */
export interface Backend {
  /** Served under `/api/v1`. */
  api: Hono
  users: Users
  /** Follows the engines once it is started. */
  fleet: RunningFleet
  /** Where live views of channels are. */
  findView: FindView
  /** Looks after what they tell once it is started. */
  events: Events
}

export async function createBackend({
  database,
  data,
  log,
  now = () => new Date(),
  timing,
  localEngine,
}: BackendOptions): Promise<Backend> {
  const users = await createUsers({ database, data, now })
  const secrets = readSecrets(data)
  const events = createEvents({
    data,
    addressOf: async engine_id => (await readRecord(database(), engine_id, secrets))?.address,
    retentionMs: readSettings(data).management.retention_days * DAY_MS,
    now,
    log,
  })
  const images = createImageStore(resolve(data, 'management/images'))
  const fleet = createFleet({
    secrets,
    ingest: events.ingest,
    local: localEngine,
    log,
    timing,
  })
  const operations = [
    ...users.operations,
    ...aclOperations,
    ...configOperations(secrets),
    ...organizationOperations(images),
    ...customerOperations,
    ...customerViewOperations,
    ...siteOperations,
    ...deviceOperations(secrets),
    ...sourceOperations,
    ...staticContentOperations,
    ...engineOperations({ secrets, fleet }),
    ...pipelineOperations,
    ...channelOperations,
    ...usecaseOperations,
    ...mediaOperations(secrets),
    ...events.operations,
    ...imageOperations(images),
  ]
  return {
    api: createApi({ operations, database, identify: users.identify, changed: users.forget, log }),
    users,
    fleet,
    events,
    findView: channel_id => openLiveView(database(), secrets, channel_id),
  }
}
