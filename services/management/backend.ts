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
 * What the process provides: the database, the data folder, settings, and ways to connect to other
 * services.
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
  backgroundJobs: BackgroundJobs
  /**
   * Returns a message for each problem of the maintenance jobs and of the failover, and for each
   * license or certificate that ends soon.
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

/** Creates the parts and connects them. A part may use the parts that were created before it. */
export async function createBackend(options: BackendOptions): Promise<Backend> {
  const { database, data, egress, identityEgress, log, now = () => new Date() } = options
  const nowMs = () => now().getTime()
  const settings = readSettings(data)

  // What most of the other parts use.
  const secrets = loadSecrets(data)
  const users = await createUsers({ data, secrets, identityEgress, now })
  const leases = createLeases({
    instance_id: options.instance_id ?? randomUUID(),
    host_name: hostname(),
    log,
  })
  const liveFeed = createLiveFeed()

  // Engines, and what they send.
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
  const { pictures } = events
  const fleet = createFleet({
    secrets,
    egress,
    createIngest: events.createIngest,
    leases,
    // `systemAlerts` is created below, because it needs the outages of the fleet.
    onCondition: (engineId, reported) => systemAlerts.recordCondition(engineId, reported),
    local: options.localEngine,
    log,
    timing: options.timing,
  })
  const systemAlerts = createSystemAlerts({
    secrets,
    listOutages: fleet.listOutages,
    data,
    certificate: options.certificate,
    now: nowMs,
  })

  // Work that is repeated.
  const failover = createFailover(log)
  const maintenanceJobs = createJobs({ ...options, events, secrets, now })
  const { runner, guard } = maintenanceJobs
  const backgroundJobs = createBackgroundJobs({
    events,
    runner,
    guard,
    systemAlerts,
    failover,
    leases,
    now: nowMs,
    log,
  })

  // What the scheduler uses or is notified of.
  const deliveryChanges = createDeliveryChanges()
  const scheduleChanges = createScheduleChanges()
  const scheduler = { deliveryChanges, scheduleChanges, liveFeed, pictures, secrets, runner }

  const api = createManagementApi({
    database,
    users,
    secrets,
    egress,
    fleet,
    images: createImageStore(resolve(data, 'management/images')),
    pictures,
    liveFeed,
    isRegistrationOpen: settings.management.registration,
    joinToken: options.joinToken,
    messageSettings: {
      publicUrl: settings.scheduler.public_url,
      maxSmsSegments: settings.scheduler.sms_max_segments,
    },
    log,
  })

  /**
   * Returns the alarms of repeated work. If another management service does this work now, the
   * alarms of this one are outdated and are omitted.
   */
  const unlessOutdated = (alarms: () => string[]) => (leases.runsBackground() ? alarms() : [])

  return {
    api,
    users,
    findView: channelId => openLiveView(database(), { secrets, egress }, channelId),
    scheduler,
    deliveryChanges,
    scheduleChanges,
    liveFeed,
    fleet,
    systemAlerts: { ...systemAlerts, alarms: () => unlessOutdated(systemAlerts.alarms) },
    backgroundJobs,
    alarms: () => unlessOutdated(() => [...maintenanceJobs.alarms(), ...failover.alarms()]),
  }
}
