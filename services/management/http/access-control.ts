import { isLoopback } from '@eyrie/kit/access-control'
import type { Context, Hono } from 'hono'
import type { Database } from '../db/database.ts'
import { findLocalChannels } from '../fleet/registry/local-engine.ts'
import type { Principal } from '../rights/principal.ts'
import { resetPassword } from '../users/reset-password.ts'
import type { Users } from '../users/users.ts'
import { createIdentify, type Identify } from './auth/identify-caller.ts'
import { operatorRoutes } from './auth/operator-routes.ts'
import { guard, sameOrigin } from './auth/origin-guard.ts'
import { peerAddress } from './auth/peer-address.ts'
import { sessionRoutes } from './auth/session-routes.ts'
import { liveAccess } from './live/live-access.ts'
import { recordingDeletionRoutes } from './live/recording-deletion.ts'
import type { Upstream } from './live/upstream-client.ts'

export interface AccessControlOptions {
  /** Address on which management listens. */
  host: string
  /** Folder of the appliance's data. */
  data: string
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until management has started. */
  users(): Users
  engine: Upstream
  media: Upstream
}

/**
 * Adds to `app` the check of the request's origin, sign-in to the console, and access to live views and recordings. Call
 * it before the routes of live views are added.
 */
export function addAccessControl(app: Hono, options: AccessControlOptions): void {
  const { host, data, database, users, engine, media } = options
  const identify: Identify = async (context, route) => createIdentify(users(), database)(context, route)
  const channelsOf = (caller: Principal) => findLocalChannels(database(), caller)
  // Live views are open to a viewer on the appliance itself.
  const isOpen = (context: Context) => isLoopback(host) && isLoopback(peerAddress(context))

  app.use(isLoopback(host) ? guard : sameOrigin)
  app.route('/live/recordings', recordingDeletionRoutes({ identify, channelsOf, database, engine, media }))
  app.route('/session', sessionRoutes({ isOpen, database, identify, users }))
  app.route(
    '/operator',
    operatorRoutes({ data, resetPassword: email => resetPassword(database(), email, users()) }),
  )
  app.use('/live/*', liveAccess({ isOpen, identify, channelsOf, engine }))
}
