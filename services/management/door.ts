import { EyrieError } from '@eyrie/contract'
import type { Environment, Log } from '@eyrie/kit'
import { isLoopback } from '@eyrie/kit/access-control'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { tellUnlessAway } from './db/failure.ts'
import type { Database } from './db/open.ts'
import { localChannels } from './records/local-channels.ts'
import type { Principal } from './rights/principal.ts'
import { guard, sameOrigin } from './routes/guard.ts'
import { liveAccess } from './routes/live-access.ts'
import { operatorRoutes, operatorToken } from './routes/operator.ts'
import { recordingRemoval } from './routes/recording-removal.ts'
import { sessionRoutes } from './routes/session.ts'
import type { Upstream } from './upstream.ts'
import { provideFirstAdministrator } from './users/first-administrator.ts'
import { peerAddress } from './users/peer.ts'
import { resetPassword } from './users/reset-password.ts'
import type { Users } from './users/users.ts'

export interface DoorOptions {
  environment: Pick<Environment, 'host' | 'data' | 'administrator'>
  /** Throws EyrieError `unavailable` while it is not there. */
  database(): Database
  engine: Upstream
  media: Upstream
  log: Log
}

/** Who is let in, and how: everything of sign-in that is no part of the API. */
export interface Door {
  guard: MiddlewareHandler
  liveAccess: MiddlewareHandler
  routes: Hono
  open(users: Users): void
  /** Sees to it that somebody can sign in; what stands against it is told in the log. */
  provide(database: Database): Promise<void>
}

export function createDoor({ environment, database, engine, media, log }: DoorOptions): Door {
  const { data, host, administrator } = environment
  let users: Users | undefined

  const present = (): Users => {
    if (users) return users
    throw new EyrieError('unavailable', 'management is starting')
  }
  const identify: Users['identify'] = async (context, route) => present().identify(context, route)
  // Whoever is at the box itself sees its pictures at once.
  const isOpen = (context: Context) => isLoopback(host) && isLoopback(peerAddress(context))

  const channelsOf = (caller: Principal) => localChannels(database(), caller)

  const routes = new Hono()
  routes.route('/live/recordings', recordingRemoval({ identify, channelsOf, database, engine, media }))
  routes.route('/session', sessionRoutes({ isOpen, database, identify, users: present }))
  routes.route(
    '/operator',
    operatorRoutes({ data, resetPassword: email => resetPassword(database(), email, present()) }),
  )

  return {
    guard: isLoopback(host) ? guard : sameOrigin,
    liveAccess: liveAccess({
      isOpen,
      identify,
      channelsOf,
      engine,
    }),
    routes,
    open(given) {
      users = given
      operatorToken(data)
    },
    async provide(ready) {
      const { passwords } = present()
      await ready
        .insist(() => provideFirstAdministrator(ready, { data, given: administrator, passwords, log }))
        .catch(tellUnlessAway(log, 'the first administrator could not be made'))
    },
  }
}
