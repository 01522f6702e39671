import { EyrieError } from '@eyrie/contract'
import { credentials, type SessionStatus } from '@eyrie/contract/console-api'
import { parseAs } from '@eyrie/contract/parse'
import { limitBodySize } from '@eyrie/kit/request-body'
import { eq } from 'drizzle-orm'
import { type Context, Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { session } from '../../db/schema/index.ts'
import { findSession } from '../../users/sessions.ts'
import { signIn } from '../../users/sign-in.ts'
import type { Users } from '../../users/users.ts'
import {
  assertSameOrigin,
  clearConsoleCookie,
  readConsoleCookie,
  setConsoleCookie,
} from './console-cookie.ts'
import type { IdentifyCaller } from './identify-caller.ts'
import { addRetryAfter, readSessionClient } from './request-client.ts'

const MAX_BODY_BYTES = 16 * 1024

export interface SessionRoutesOptions {
  /** Returns whether a request may see live views without sign-in. */
  isOpen(context: Context): boolean
  database(): Database
  identify: IdentifyCaller
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  users(): Pick<Users, 'passwords' | 'principals' | 'now'>
}

/**
 * Routes for sign-in to the console: GET returns whether the browser is signed in, POST signs in, DELETE signs out.
 * The session's refresh token is stored in an `HttpOnly`, `SameSite=Strict` cookie.
 */
export function createSessionRoutes({ isOpen, database, identify, users }: SessionRoutesOptions): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    assertSameOrigin(c)
    await next()
  })

  app.get('/', async c => c.json(await readStatus(c)))

  async function readStatus(c: Context): Promise<SessionStatus> {
    const open = isOpen(c)
    // Sign-in requires the database: this throws `unavailable` while the database is unreachable.
    if (!open) database()

    try {
      const caller = await identify(c)
      return { open, user: caller ? { email: caller.actor, role: caller.role } : null }
    } catch (error) {
      const code = error instanceof EyrieError ? error.code : undefined
      if (code === 'auth') return { open, user: null }
      // Live views without sign-in do not wait for the database.
      if (code !== 'unavailable' || !open) throw error
      const mayBeSignedIn = readConsoleCookie(c) !== undefined
      return { open, user: null, ...(mayBeSignedIn && { starting: true }) }
    }
  }

  app.post('/', limitBodySize(MAX_BODY_BYTES), async c => {
    const body = await c.req.json().catch(() => undefined)
    const submitted = parseAs(credentials, body)
    const started = await addRetryAfter(c, signIn(database(), submitted, readSessionClient(c), users()))
    setConsoleCookie(c, started.refresh_token)
    return c.body(null, 204)
  })

  app.delete('/', async c => {
    const refreshToken = readConsoleCookie(c)
    const { principals, now } = users()
    if (refreshToken !== undefined) await revokeSession(database(), refreshToken, now())
    // The cache must not identify callers by the revoked session.
    principals.clear()
    clearConsoleCookie(c)
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
