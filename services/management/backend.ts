import { resolve } from 'node:path'
import { type Log, readSettings } from '@eyrie/kit'
import { alertSubscriber } from './alerts/evaluate-messages.ts'
import { type BackgroundJobs, createBackgroundJobs } from './background-jobs.ts'
import type { Database } from './db/database.ts'
import { createEvents } from './events/events.ts'
import type { FleetTiming } from './fleet/connection/engine-link.ts'
import { createFleet, type RunningFleet } from './fleet/fleet.ts'
import { openLiveView } from './fleet/live-views.ts'
import { readEngineRecord } from './fleet/registry/engine-record.ts'
import type { LocalEngine } from './fleet/registry/local-engine.ts'
import type { StartedServices } from './http/app.ts'
import { createManagementApi } from './http/management-api.ts'
import { createImageStore } from './images/image-store.ts'
import { readSecrets } from './secrets/secrets.ts'
import { createUsers } from './users/users.ts'

export interface BackendOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Folder of the appliance's data. */
  data: string
  log: Log
  now?: () => Date
  /** The engine of this appliance. */
  localEngine?: LocalEngine
  /** Intervals at which engines are monitored. */
  timing?: Partial<FleetTiming>
}

const DAY_MS = 86_400_000

/** The management API and the services behind it. */
export interface Backend extends StartedServices {
  /** Connects to the engines once started. */
  fleet: RunningFleet
  /** Evaluates alerts, fetches pictures and applies the retention once started. */
  jobs: BackgroundJobs
}

export async function createBackend({
  database,
  data,
  log,
  now = () => new Date(),
  timing,
  localEngine,
}: BackendOptions): Promise<Backend> {
  const users = await createUsers({ data, now })
  const secrets = readSecrets(data)
  const images = createImageStore(resolve(data, 'management/images'))
  const epochMs = () => now().getTime()
  const events = createEvents({
    data,
    findAddress: async engine_id => (await readEngineRecord(database(), engine_id, secrets))?.address,
    subscribers: [alertSubscriber],
    retentionMs: readSettings(data).management.retention_days * DAY_MS,
    now: epochMs,
    log,
  })
  const fleet = createFleet({ secrets, createIngest: events.createIngest, local: localEngine, log, timing })
  const { pictures } = events
  return {
    api: createManagementApi({ database, users, secrets, fleet, images, pictures, log }),
    users,
    findView: channel_id => openLiveView(database(), secrets, channel_id),
    fleet,
    jobs: createBackgroundJobs({ events, now: epochMs, log }),
  }
}
