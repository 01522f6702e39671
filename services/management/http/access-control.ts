import { PROVIDER_SIGN_IN_PATH } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import { isLoopback } from '@eyrie/kit/access-control'
import type { Hono } from 'hono'
import type { Database } from '../db/database.ts'
import { findLocalChannels } from '../fleet/registry/local-engine.ts'
import type { Principal } from '../rights/principal.ts'
import type { LocalSessions } from '../users/local-sessions.ts'
import { resetPassword } from '../users/reset-password.ts'
import type { Users } from '../users/users.ts'
import { createIdentifyCaller } from './auth/identify-caller.ts'
import { createLinkRoutes, createLocalAccess } from './auth/link-routes.ts'
import { createOperatorRoutes } from './auth/operator-routes.ts'
import { allowLocalhostOnly, allowSameOriginOnly } from './auth/origin-guard.ts'
import { createProviderRoutes } from './auth/provider-routes.ts'
import { createSessionRoutes } from './auth/session-routes.ts'
import { createLiveAccess } from './live/live-access.ts'
import { createRecordingDeletionRoutes } from './live/recording-deletion.ts'
import type { Upstream } from './live/upstream-client.ts'

export interface AccessControlOptions {
  /** Address on which the management service listens. */
  host: string
  /** Folder of the appliance's data. */
  data: string
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  users(): Users
  localSessions: LocalSessions
  engine: Upstream
  media: Upstream
  log: Log
}

/**
 * Adds the routes and middleware that decide who may use the console: the check of the request's
 * origin, sign-in, and access to live views and recordings. Call it before the routes of live
 * views are added to `app`.
 */
export function addAccessControl(app: Hono, options: AccessControlOptions): void {
  const { host, data, database, users, localSessions, engine, media, log } = options
  const identify = createIdentifyCaller(users, database)
  const findChannels = (caller: Principal) => findLocalChannels(database(), caller)
  // A browser on the appliance itself needs no sign-in once the user has opened the link that the
  // command line prints.
  const mayViewWithoutSignIn = createLocalAccess(localSessions)

  app.use(isLoopback(host) ? allowLocalhostOnly : allowSameOriginOnly)

  // Comes before the rules for `/live/*`, because deleting recordings has stricter rules of its
  // own.
  const deletionRoutes = createRecordingDeletionRoutes({
    identify,
    findChannels,
    database,
    engine,
    media,
    log,
  })
  app.route('/live/recordings', deletionRoutes)

  app.route('/', createLinkRoutes(localSessions))
  app.route(PROVIDER_SIGN_IN_PATH, createProviderRoutes({ database, users, log }))
  app.route(
    '/session',
    createSessionRoutes({ mayViewWithoutSignIn, localSessions, database, identify, users }),
  )

  const resetUserPassword = (email: string) => resetPassword(database(), email, users())
  app.route(
    '/operator',
    createOperatorRoutes({ data, database, resetPassword: resetUserPassword, localSessions }),
  )

  app.use(
    '/live/*',
    createLiveAccess({ mayViewWithoutSignIn, identify, findChannels, engine, log }),
  )
}
