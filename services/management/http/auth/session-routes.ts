import { EyrieError } from '@eyrie/contract'
import { credentials, type SessionStatus } from '@eyrie/contract/console-api'
import { secondStep } from '@eyrie/contract/management/index'
import { parseAs } from '@eyrie/contract/parse'
import { limitBodySize } from '@eyrie/kit/request-body'
import { eq } from 'drizzle-orm'
import { type Context, Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { session } from '../../db/schema/index.ts'
import type { LocalSessions } from '../../users/local-sessions.ts'
import { findProviderName } from '../../users/oidc/provider-settings.ts'
import { findSession } from '../../users/sessions.ts'
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
  isOpen(context: Context): boolean
  localSessions: Pick<LocalSessions, 'end'>
  database(): Database
  identify: IdentifyCaller
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  users(): Pick<Users, 'passwords' | 'principals' | 'secrets' | 'now'>
}

/**
 * Routes for sign-in to the console: GET returns whether the browser is signed in, POST signs in, DELETE signs out. The answer
 * to a correct password of a user with an authenticator app is a challenge (401), which `POST /code` takes with the code.
 * The session's refresh token is stored in an `HttpOnly`, `SameSite=Strict` cookie.
 */
export function createSessionRoutes({
  isOpen,
  localSessions,
  database,
  identify,
  users,
}: SessionRoutesOptions): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    assertSameOrigin(c)
    await next()
  })

  app.get('/', async c => c.json(await readStatus(c)))

  async function readStatus(c: Context): Promise<SessionStatus> {
    const failure = takeSignInFailure(c)
    return { ...(await readUser(c)), ...(failure !== undefined && { failure }) }
  }

  async function readUser(c: Context): Promise<SessionStatus> {
    const open = isOpen(c)
    // Sign-in requires the database: this throws `unavailable` while the database is unreachable.
    if (!open) database()

    try {
      const caller = await identify(c)
      if (caller) return { open, user: { email: caller.actor, role: caller.role } }
      return { open, user: null, ...(await readProvider()) }
    } catch (error) {
      const code = error instanceof EyrieError ? error.code : undefined
      if (code === 'auth') return { open, user: null, ...(await readProvider()) }
      // Live views without sign-in do not wait for the database.
      if (code !== 'unavailable' || !open) throw error
      const mayBeSignedIn = readConsoleCookie(c) !== undefined
      return { open, user: null, ...(mayBeSignedIn && { starting: true }) }
    }
  }

  async function readProvider(): Promise<Pick<SessionStatus, 'provider'>> {
    const name = await database().system('/session', findProviderName)
    return name === undefined ? {} : { provider: { name } }
  }

  app.post('/', limitBodySize(MAX_BODY_BYTES), async c => {
    const body = await c.req.json().catch(() => undefined)
    const submitted = parseAs(credentials, body)
    const started = await addRetryAfter(c, signIn(database(), submitted, readSessionClient(c), users()))
    setConsoleCookie(c, started.refresh_token)
    return c.body(null, 204)
  })

  app.post('/code', limitBodySize(MAX_BODY_BYTES), async c => {
    const body = await c.req.json().catch(() => undefined)
    const submitted = parseAs(secondStep, body)
    const completing = completeSignIn(database(), submitted, readSessionClient(c), users())
    const started = await addRetryAfter(c, completing)
    setConsoleCookie(c, started.refresh_token)
    return c.body(null, 204)
  })

  app.delete('/', async c => {
    const refreshToken = readConsoleCookie(c)
    if (refreshToken !== undefined) {
      const { principals, now } = users()
      await revokeSession(database(), refreshToken, now())
      // The cache must not identify callers by the revoked session.
      principals.clear()
      clearConsoleCookie(c)
    }
    const localToken = readLocalCookie(c)
    if (localToken !== undefined) {
      await localSessions.end(localToken)
      clearLocalCookie(c)
    }
    return c.body(null, 204)
  })

  return app
}

/** Does nothing if the session has already ended. */
const revokeSession = (database: Database, refreshToken: string, now: Date) =>
  database.system('/session', async tx => {
    const current = await findSession(tx, refreshToken, now)
    if (!current) return
    await tx.update(session).set({ revoked_at: now }).where(eq(session.session_id, current.session_id))
  })
