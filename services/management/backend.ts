import { resolve } from 'node:path'
import { type Log, readSettings } from '@eyrie/kit'
import type { Hono } from 'hono'
import { createApi } from './api/api.ts'
import type { Database } from './db/database.ts'
import { createEvents, type Events } from './events/events.ts'
import { createFleet, type RunningFleet } from './fleet/fleet.ts'
import type { Timing } from './fleet/link.ts'
import { openLiveView } from './fleet/live-views.ts'
import type { LocalEngine } from './fleet/local-engine.ts'
import { readRecord } from './fleet/record.ts'
import { createImageStore } from './images/store.ts'
import { aclOperations } from './operations/acl.ts'
import { channelOperations } from './operations/channel.ts'
import { configOperations } from './operations/config.ts'
import { customerOperations } from './operations/customer.ts'
import { customerViewOperations } from './operations/customer-view.ts'
import { deviceOperations } from './operations/device.ts'
import { engineOperations } from './operations/engine.ts'
import { imageOperations } from './operations/image.ts'
import { mediaOperations } from './operations/media.ts'
import { organizationOperations } from './operations/organization.ts'
import { pipelineOperations } from './operations/pipeline.ts'
import { siteOperations } from './operations/site.ts'
import { sourceOperations } from './operations/source.ts'
import { staticContentOperations } from './operations/static-content.ts'
import { usecaseOperations } from './operations/usecase.ts'
import type { FindView } from './routes/media.ts'
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
