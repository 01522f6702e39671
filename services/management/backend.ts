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

/**
 * What the backend gets from the process around it: the database, settings, and ways to connect.
 */
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
  /** The engine service of this appliance. Undefined if all engines register themselves. */
  localEngine?: LocalEngine | undefined
  /** The TLS certificate of the services, in PEM. */
  certificate?: string | undefined
  /** The token with which engines register themselves, if the environment has one. */
  joinToken?: string | undefined
  /** Id of this management service among those on the same database. */
  instance_id?: string
  /** Intervals at which engines are monitored. */
  timing?: Partial<FleetTiming>
}

const DAY_MS = 86_400_000

/**
 * The parts of the management service that need the database. Those with a `start` method are
 * idle until it is called.
 */
export interface Backend extends StartedServices {
  /** The connections to engines. */
  fleet: RunningFleet
  /** Work that is repeated every few seconds, such as the evaluation of alerts. */
  jobs: BackgroundJobs
  /**
   * Returns a message for each problem of the jobs, and for each license or
   * certificate that ends soon.
   */
  alarms(): string[]
  /** Alerts about failures of cameras, engines and the appliance. */
  systemAlerts: SystemAlerts
  /** Wakes the scheduler when deliveries are due. */
  deliveryChanges: DeliveryChanges
  /** Notifies the scheduler of changed schedules. */
  scheduleChanges: ScheduleChanges
  /** Reads the messages of the live feed. */
  liveFeed: LiveFeed
}

/** Creates the parts and connects them. */
export async function createBackend(options: BackendOptions): Promise<Backend> {
  const {
    database,
    data,
    egress,
    identityEgress,
    log,
    now = () => new Date(),
    timing,
    localEngine,
  } = options
  const nowMs = () => now().getTime()

  const settings = readSettings(data)
  const secrets = loadSecrets(data)
  const users = await createUsers({ data, secrets, identityEgress, now })
  const images = createImageStore(resolve(data, 'management/images'))

  const events = createEvents({
    data,
    async findAddress(engineId) {
      const engine = await readEngineRecord(database(), engineId, secrets)
      return engine?.address
    },
    egress,
    subscribers: [alertSubscriber],
    retentionMs: settings.management.retention_days * DAY_MS,
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
    // `systemAlerts` is created below, because it needs the outages of the fleet.
    onCondition: (engineId, reported) => systemAlerts.recordCondition(engineId, reported),
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

  /**
   * Returns alarms of the jobs. If another management service runs the jobs now, those of this one
   * are outdated and are omitted.
   */
  const unlessOutdated = (alarms: () => string[]) => (leases.runsBackground() ? alarms() : [])

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
      isRegistrationOpen: settings.management.registration,
      joinToken: options.joinToken,
      messageSettings: {
        publicUrl: settings.scheduler.public_url,
        maxSmsSegments: settings.scheduler.sms_max_segments,
      },
      log,
    }),
    users,
    findView: channelId => openLiveView(database(), { secrets, egress }, channelId),
    scheduler: {
      deliveryChanges,
      scheduleChanges,
      liveFeed,
      pictures,
      secrets,
      runner: jobs.runner,
    },
    deliveryChanges,
    scheduleChanges,
    liveFeed,
    fleet,
    systemAlerts: { ...systemAlerts, alarms: () => unlessOutdated(systemAlerts.alarms) },
    jobs: createBackgroundJobs({
      events,
      systemAlerts,
      failover,
      leases,
      ...jobs,
      now: nowMs,
      log,
    }),
    alarms: () => unlessOutdated(() => [...jobs.alarms(), ...failover.alarms()]),
  }
}
