import { resolve } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import type { Dependencies, Service } from '@eyrie/kit'
import { type Backend, createBackend } from './backend.ts'
import type { Database } from './db/database.ts'
import { logUnlessUnavailable } from './db/database-errors.ts'
import { createDatabaseSupervisor } from './db/database-supervisor.ts'
import { inEnvelope } from './http/api/api-errors.ts'
import { createApp } from './http/app.ts'
import { operatorToken } from './http/auth/operator-routes.ts'
import { createUpstream } from './http/live/upstream-client.ts'
import manifest from './package.json' with { type: 'json' }
import { provideFirstAdministrator } from './users/first-administrator.ts'

/** The console, the API behind it, and a proxy to engine and media that keeps their tokens from clients. */
export function createManagement({ environment, log }: Dependencies): Service {
  const { urls, engineTokens, internalToken, data, databaseUrl, host, administrator } = environment
  const database = createDatabaseSupervisor({ data, url: databaseUrl, log })
  /** Undefined until `start` has created it. */
  let backend: Backend | undefined

  const app = createApp({
    host,
    data,
    database: database.current,
    engine: createUpstream({ name: 'engine', url: urls.engine, token: engineTokens[0] }),
    media: createUpstream({ name: 'media', url: urls.media, token: internalToken }),
    services() {
      if (!backend) throw new EyrieError('unavailable', 'management is starting')
      return backend
    },
    consoleFolder: resolve(import.meta.dirname, '../../console/dist'),
    version: manifest.version,
    log,
  })

  function startBackend({ fleet, jobs, users }: Backend, ready: Database): void {
    fleet.start(ready)
    jobs.start(ready)
    const options = { data, given: administrator, passwords: users.passwords, log }
    ready
      .retryUntilAvailable(() => provideFirstAdministrator(ready, options))
      .catch(logUnlessUnavailable(log, 'failed to create the first administrator'))
  }

  return {
    app,
    errorBody: inEnvelope,
    // Live views do not wait for the database; the API answers `unavailable` until it is ready.
    async start() {
      database.start()
      const localEngine = { url: urls.engine, token: engineTokens[0] }
      const created = await createBackend({ database: database.current, data, localEngine, log })
      backend = created
      operatorToken(data)
      database.ready.then(
        ready => startBackend(created, ready),
        // A database that never becomes ready raises an alarm; the backend stays idle.
        () => {},
      )
    },
    async stop() {
      await Promise.all([backend?.fleet.stop(), backend?.jobs.stop()])
      await database.stop()
    },
    health: () => ({ ok: true, alarms: database.alarms() }),
  }
}
