import { EyrieError } from '@eyrie/contract'
import { credentials, type SessionStatus } from '@eyrie/contract/console-api'
import { secondStep } from '@eyrie/contract/management/index'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { eq } from 'drizzle-orm'
import { type Context, Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { session } from '../../db/schema/index.ts'
import type { Principal } from '../../rights/principal.ts'
import type { LocalSessions } from '../../users/local-sessions.ts'
import { findProviderName } from '../../users/oidc/provider-settings.ts'
import { findSession, type StartedSession } from '../../users/sessions.ts'
import { signIn } from '../../users/sign-in.ts'
import { completeSignIn } from '../../users/submit-code.ts'
import type { Users } from '../../users/users.ts'
import {
  assertSameOrigin,
  clearConsoleCookie,
  clearLocalCookie,
  readConsoleCookie,
  readLocalCookie,
  setConsoleCookie,
} from './console-cookie.ts'
import type { IdentifyCaller } from './identify-caller.ts'
import { takeSignInFailure } from './provider-cookies.ts'
import { addRetryAfter, readSessionClient } from './request-client.ts'

const MAX_BODY_BYTES = 16 * 1024

export interface SessionRoutesOptions {
  /** Returns whether a request may see live views without sign-in. */
  mayViewWithoutSignIn(context: Context): boolean
  localSessions: Pick<LocalSessions, 'end'>
  database(): Database
  identify: IdentifyCaller
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  users(): Pick<Users, 'passwords' | 'principals' | 'secrets' | 'now'>
}

/**
 * Routes for sign-in to the console: GET returns whether the browser is signed in, POST signs in,
 * DELETE signs out. A user with an authenticator app gets a challenge (401) in response to the
 * correct password, and sends the challenge with a code to `POST /code`. The session's refresh
 * token is stored in an `HttpOnly`, `SameSite=Strict` cookie.
 */
export function createSessionRoutes({
  mayViewWithoutSignIn,
  localSessions,
  database,
  identify,
  users,
}: SessionRoutesOptions): Hono {
  /** Returns the signed-in user, or else with which identity provider a user can sign in. */
  async function readUserStatus(c: Context): Promise<UserStatus> {
    const caller = await identifyUser(identify, c)
    if (caller) return { user: { email: caller.actor, role: caller.role } }
    const name = await database().system('/session', findProviderName)
    return name === undefined ? { user: null } : { user: null, provider: { name } }
  }

  async function storeSession(c: Context, signingIn: Promise<StartedSession>): Promise<Response> {
    const { refresh_token: refreshToken } = await addRetryAfter(c, signingIn)
    setConsoleCookie(c, refreshToken)
    return c.body(null, 204)
  }

  async function endUserSession(c: Context, refreshToken: string): Promise<void> {
    const { principals, now } = users()
    await revokeSession(database(), refreshToken, now())
    // The cache must not identify callers by the revoked session.
    principals.clear()
    clearConsoleCookie(c)
  }

  async function endLocalSession(c: Context, token: string): Promise<void> {
    await localSessions.end(token)
    clearLocalCookie(c)
  }

  const app = new Hono()
  const limitBody = limitBodySize(MAX_BODY_BYTES)

  app.use(async (c, next) => {
    assertSameOrigin(c)
    await next()
  })

  app.get('/', async c => {
    const failure = takeSignInFailure(c)
    const open = mayViewWithoutSignIn(c)
    if (!open) assertAvailable(database)
    const userStatus = await readUserStatus(c).catch(error => {
      // Live views without sign-in work while the database is unreachable, for example while it
      // starts.
      if (open && isUnavailable(error)) return toUnverifiedStatus(c)
      throw error
    })
    const status: SessionStatus = { open, ...userStatus }
    if (failure !== undefined) status.failure = failure
    return c.json(status)
  })

  app.post('/', limitBody, async c => {
    const submitted = await parseJsonBody(c, credentials)
    return storeSession(c, signIn(database(), submitted, readSessionClient(c), users()))
  })

  app.post('/code', limitBody, async c => {
    const submitted = await parseJsonBody(c, secondStep)
    return storeSession(c, completeSignIn(database(), submitted, readSessionClient(c), users()))
  })

  app.delete('/', async c => {
    const refreshToken = readConsoleCookie(c)
    if (refreshToken !== undefined) await endUserSession(c, refreshToken)
    const localToken = readLocalCookie(c)
    if (localToken !== undefined) await endLocalSession(c, localToken)
    return c.body(null, 204)
  })

  return app
}

/** Throws `EyrieError` (`unavailable`) if the database is unreachable: no user can sign in. */
function assertAvailable(database: () => Database): void {
  database()
}

const isUnavailable = (error: unknown) =>
  error instanceof EyrieError && error.code === 'unavailable'

type UserStatus = Omit<SessionStatus, 'open' | 'failure'>

/** Returns the status of a browser whose session cannot be verified yet, if it has one. */
function toUnverifiedStatus(c: Context): UserStatus {
  const mayBeSignedIn = readConsoleCookie(c) !== undefined
  return mayBeSignedIn ? { user: null, starting: true } : { user: null }
}

/** Returns undefined if the browser is not signed in, or its session has ended. */
async function identifyUser(identify: IdentifyCaller, c: Context): Promise<Principal | undefined> {
  try {
    return await identify(c)
  } catch (error) {
    if (error instanceof EyrieError && error.code === 'auth') return undefined
    throw error
  }
}

/** Does nothing if the session has already ended. */
const revokeSession = (database: Database, refreshToken: string, now: Date) =>
  database.system('/session', async tx => {
    const current = await findSession(tx, refreshToken, now)
    if (!current) return
    await tx
      .update(session)
      .set({ revoked_at: now })
      .where(eq(session.session_id, current.session_id))
  })
