import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { type Egress, type Log, readSettings } from '@eyrie/kit'
import { alertSubscriber } from './alerts/evaluate-messages.ts'
import { type BackgroundJobs, createBackgroundJobs } from './background-jobs.ts'
import type { Database } from './db/database.ts'
import { createDeliveryChanges, type DeliveryChanges } from './deliveries/delivery-changes.ts'
import { createEvents } from './events/events.ts'
import { createLiveFeed, type LiveFeed } from './feed/live-feed.ts'
import type { FleetTiming } from './fleet/connection/engine-link.ts'
import { createFleet, type RunningFleet } from './fleet/fleet.ts'
import { openLiveView } from './fleet/live-views.ts'
import { readEngineRecord } from './fleet/registry/engine-record.ts'
import type { LocalEngine } from './fleet/registry/local-engine.ts'
import type { StartedServices } from './http/app.ts'
import { createManagementApi } from './http/management-api.ts'
import { createImageStore } from './images/image-store.ts'
import { createLeases } from './leases/leases.ts'
import { createJobs, type JobsEnvironment } from './maintenance-jobs.ts'
import { createFailover } from './placement/failover.ts'
import { createScheduleChanges, type ScheduleChanges } from './schedules/schedule-changes.ts'
import { loadSecrets } from './secrets/secrets.ts'
import { createSystemAlerts, type SystemAlerts } from './system-alerts/system-alerts.ts'
import { createUsers } from './users/users.ts'

/** What the backend of the management service needs from the process that runs it. */
export interface BackendOptions extends JobsEnvironment {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Folder of the appliance's data. */
  data: string
  log: Log
  now?: () => Date
  /** Opens the connections to engines. */
  egress: Egress
  /** Opens the connections to the identity provider. */
  identityEgress: Egress
  /** The engine service of this appliance. */
  localEngine?: LocalEngine | undefined
  /** The TLS certificate of the services, in PEM. */
  certificate?: string | undefined
  /** The token in the environment with which engines register themselves. */
  joinToken?: string | undefined
  /** Id of this management service among those on the same database. */
  instance_id?: string
  /** Intervals at which engines are monitored. */
  timing?: Partial<FleetTiming>
}

const DAY_MS = 86_400_000

/** The parts of the management service that need the database. */
export interface Backend extends StartedServices {
  /** The connections to engines. Idle until started. */
  fleet: RunningFleet
  /** Evaluates alerts, fetches pictures and runs jobs. Idle until started. */
  jobs: BackgroundJobs
  /** Returns what is wrong with the jobs, and the licenses and certificates that end soon. */
  alarms(): string[]
  /** Notices failures. Evaluated by the jobs. */
  systemAlerts: SystemAlerts
  /** Wakes the scheduler. Idle until started. */
  deliveryChanges: DeliveryChanges
  /** Notifies the scheduler of changed schedules. Idle until started. */
  scheduleChanges: ScheduleChanges
  /** Reads the messages of the live feed. Idle until started. */
  liveFeed: LiveFeed
}

/** Creates the parts and connects them with each other. */
export async function createBackend(options: BackendOptions): Promise<Backend> {
  const { database, data, egress, identityEgress, log, now = () => new Date(), timing, localEngine } = options
  const nowMs = () => now().getTime()

  const secrets = loadSecrets(data)
  const users = await createUsers({ data, secrets, identityEgress, now })
  const images = createImageStore(resolve(data, 'management/images'))

  const { management: settings, scheduler: messages } = readSettings(data)
  const events = createEvents({
    data,
    async findAddress(engine_id) {
      const engine = await readEngineRecord(database(), engine_id, secrets)
      return engine?.address
    },
    egress,
    subscribers: [alertSubscriber],
    retentionMs: settings.retention_days * DAY_MS,
    now: nowMs,
    log,
  })
  const { pictures, createIngest } = events
  const deliveryChanges = createDeliveryChanges()
  const scheduleChanges = createScheduleChanges()
  const liveFeed = createLiveFeed()
  const failover = createFailover(log)
  const jobs = createJobs({ ...options, events, secrets, now })
  const leases = createLeases({
    instance_id: options.instance_id ?? randomUUID(),
    host_name: hostname(),
    log,
  })
  const fleet = createFleet({
    secrets,
    egress,
    createIngest,
    leases,
    onCondition: (...received) => systemAlerts.recordCondition(...received),
    local: localEngine,
    log,
    timing,
  })
  const systemAlerts = createSystemAlerts({
    secrets,
    listOutages: fleet.listOutages,
    data,
    certificate: options.certificate,
    now: nowMs,
  })

  /** What background jobs have found is outdated when another management service runs them. */
  const alarmsOfJobs = (list: () => string[]) => (leases.runsBackground() ? list() : [])

  return {
    api: createManagementApi({
      database,
      users,
      secrets,
      egress,
      fleet,
      images,
      pictures,
      liveFeed,
      isRegistrationOpen: settings.registration,
      joinToken: options.joinToken,
      messageSettings: { publicUrl: messages.public_url, maxSmsSegments: messages.sms_max_segments },
      log,
    }),
    users,
    findView: channel_id => openLiveView(database(), { secrets, egress }, channel_id),
    scheduler: { deliveryChanges, scheduleChanges, liveFeed, pictures, secrets, runner: jobs.runner },
    deliveryChanges,
    scheduleChanges,
    liveFeed,
    fleet,
    systemAlerts: { ...systemAlerts, alarms: () => alarmsOfJobs(systemAlerts.alarms) },
    jobs: createBackgroundJobs({ events, systemAlerts, failover, leases, ...jobs, now: nowMs, log }),
    alarms: () => alarmsOfJobs(() => [...jobs.alarms(), ...failover.alarms()]),
  }
}
