import { resolve } from 'node:path'
import { EyrieError, type ManagementHealth } from '@eyrie/contract'
import {
  createEgress,
  type Dependencies,
  type DiskMonitor,
  monitorDisk,
  type Service,
} from '@eyrie/kit'
import { sendTerminalNotice } from '@eyrie/kit/terminal-notice'
import { type Backend, createBackend } from './backend.ts'
import type { Database } from './db/database.ts'
import { logUnlessUnavailable } from './db/database-errors.ts'
import { createDatabaseSupervisor } from './db/database-supervisor.ts'
import { describeOutage } from './fleet/status/engine-outage.ts'
import { toErrorBody } from './http/api/api-errors.ts'
import { createApp } from './http/app.ts'
import { readOrCreateOperatorToken } from './http/auth/operator-routes.ts'
import { createUpstream } from './http/live/upstream-client.ts'
import { encryptStoredAddresses } from './inventory/encrypt-stored-addresses.ts'
import { createIsolationMonitor } from './isolation-monitor.ts'
import { getInstanceId } from './leases/instance-id.ts'
import manifest from './package.json' with { type: 'json' }
import { monitorPackages, type PackageMonitor } from './packages/package-monitor.ts'
import { loadSecrets } from './secrets/secrets.ts'
import { ensureFirstAdministrator } from './users/first-administrator.ts'
import { createLocalSessions } from './users/local-sessions.ts'

/**
 * The management service. It serves the console and the management API, and is a proxy to the
 * engine and media services, so that clients never receive the tokens of these services.
 */
export function createManagement({ environment, log }: Dependencies): Service {
  const { urls, engineTokens, internalToken, schedulerToken, data, databaseUrl, hosts } =
    environment
  const egress = createEgress('engine', environment)
  const engine = createUpstream({ name: 'engine', url: urls.engine, token: engineTokens[0] })
  const media = createUpstream({ name: 'media', url: urls.media, token: internalToken })
  const isolation = createIsolationMonitor({ engine, media })
  const supervisor = createDatabaseSupervisor({
    data,
    url: databaseUrl,
    socketFolder: environment.databaseSocket,
    log,
  })
  // These are undefined until the service has started.
  let backend: Backend | undefined
  let disk: DiskMonitor | undefined
  let packages: PackageMonitor | undefined

  const localSessions = createLocalSessions({
    file: resolve(data, 'management/local-sessions.json'),
    log,
  })
  const app = createApp({
    host: hosts.management,
    data,
    database: supervisor.current,
    localSessions,
    engine,
    egress,
    schedulerToken,
    media,
    services() {
      if (!backend) throw new EyrieError('unavailable', 'the management service is starting')
      return backend
    },
    consoleFolder: resolve(import.meta.dirname, '../../console/dist'),
    version: manifest.version,
    log,
  })

  const createOwnBackend = (): Promise<Backend> =>
    createBackend({
      database: supervisor.current,
      data,
      egress,
      identityEgress: createEgress('identity', environment),
      backupEgress: createEgress('backup', environment),
      databaseUrl,
      isSupervised: environment.separation !== undefined,
      tls: environment.tls,
      isDiskFull: () => (disk?.alarms().length ?? 0) > 0,
      certificate: environment.trustedCertificate,
      localEngine: environment.allEnginesJoin
        ? undefined
        : { url: urls.engine, token: engineTokens[0] },
      joinToken: environment.joinToken,
      instance_id: getInstanceId(hosts.management, environment.ports.management),
      log,
    })

  /** Starts the work of the backend that needs the database. */
  function startBackend(
    { fleet, backgroundJobs, users, deliveryChanges, scheduleChanges, liveFeed }: Backend,
    database: Database,
  ): void {
    fleet.start(database)
    backgroundJobs.start(database)
    deliveryChanges.start(database)
    scheduleChanges.start(database)
    liveFeed.start(database)
    database
      .retryUntilAvailable(() => encryptStoredAddresses(database, loadSecrets(data)))
      .catch(logUnlessUnavailable(log, 'failed to encrypt addresses'))
    const options = {
      data,
      configured: environment.administrator,
      passwords: users.passwords,
      log,
      print: sendTerminalNotice,
    }
    database
      .retryUntilAvailable(() => ensureFirstAdministrator(database, options))
      .catch(logUnlessUnavailable(log, 'failed to create the first administrator'))
  }

  return {
    app,
    errorBody: toErrorBody,

    /**
     * Does not wait for the database: live views work without it, and the API answers
     * `unavailable` until it is ready.
     */
    async start() {
      supervisor.start()
      disk = monitorDisk(data, log)
      packages = monitorPackages(log)
      isolation.start()
      const created = await createOwnBackend()
      backend = created
      // Creates the token at the first start, so that the command line can read it.
      readOrCreateOperatorToken(data)

      supervisor.ready.then(
        database => startBackend(created, database),
        // The service was stopped before the database was ready.
        () => {},
      )
    },

    async stop() {
      disk?.stop()
      packages?.stop()
      await Promise.all([
        backend?.fleet.stop(),
        backend?.backgroundJobs.stop(),
        backend?.deliveryChanges.stop(),
        backend?.scheduleChanges.stop(),
        backend?.liveFeed.stop(),
        isolation.stop(),
      ])
      await supervisor.stop()
    },

    health(): ManagementHealth {
      const engines = backend?.fleet.listOutages() ?? []
      return {
        ok: true,
        alarms: [
          ...supervisor.alarms(),
          ...(disk?.alarms() ?? []),
          ...(packages?.alarms() ?? []),
          ...isolation.alarms(),
          ...(backend?.alarms() ?? []),
          ...engines.map(describeOutage),
          ...(backend?.fleet.alarms() ?? []),
          ...(backend?.systemAlerts.alarms() ?? []),
        ],
        engines,
      }
    },
  }
}
