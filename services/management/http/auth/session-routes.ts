import { EyrieError } from '@eyrie/contract'
import { credentials, type SessionStatus } from '@eyrie/contract/console-api'
import { parseAs } from '@eyrie/contract/parse'
import { eq } from 'drizzle-orm'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Database } from '../../db/database.ts'
import { session } from '../../db/schema/index.ts'
import { findSession } from '../../users/sessions.ts'
import { signIn } from '../../users/sign-in.ts'
import type { Users } from '../../users/users.ts'
import { assertOwnOrigin, clearConsoleCookie, readConsoleCookie, setConsoleCookie } from './console-cookie.ts'
import type { IdentifyCaller } from './identify-caller.ts'
import { addRetryAfter, readSessionClient } from './request-client.ts'

const MAX_BODY_BYTES = 16 << 10

export interface SessionRoutesOptions {
  /** Whether this request may see live views without sign-in. */
  isOpen(context: Context): boolean
  database(): Database
  identify: IdentifyCaller
  /** Throws `EyrieError` (`unavailable`) until management has started. */
  users(): Pick<Users, 'passwords' | 'principals' | 'now'>
}

/** Sign-in to the console. The session is kept in an `HttpOnly`, `SameSite=Strict` cookie. */
export function createSessionRoutes({ isOpen, database, identify, users }: SessionRoutesOptions): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    assertOwnOrigin(c)
    await next()
  })

  app.get('/', async c => {
    const open = isOpen(c)
    // Without a database no one can sign in either: answer `unavailable`.
    if (!open) database()
    try {
      const caller = await identify(c)
      const user = caller ? { email: caller.actor, role: caller.role } : null
      return c.json<SessionStatus>({ open, user })
    } catch (error) {
      const code = error instanceof EyrieError ? error.code : undefined
      if (code === 'auth') return c.json<SessionStatus>({ open, user: null })
      // Views that need no sign-in do not wait for the database.
      if (code !== 'unavailable' || !open) throw error
      const starting = readConsoleCookie(c) === undefined ? {} : { starting: true as const }
      return c.json<SessionStatus>({ open, user: null, ...starting })
    }
  })

  app.post('/', bodyLimit({ maxSize: MAX_BODY_BYTES }), async c => {
    const submitted = parseAs(credentials, await c.req.json().catch(() => undefined))
    const started = await addRetryAfter(c, signIn(database(), submitted, readSessionClient(c), users()))
    setConsoleCookie(c, started.refresh_token)
    return c.body(null, 204)
  })

  app.delete('/', async c => {
    const token = readConsoleCookie(c)
    const { principals, now } = users()
    if (token !== undefined)
      await database().system('/session', async tx => {
        const current = await findSession(tx, token, now())
        if (current)
          await tx
            .update(session)
            .set({ revoked_at: now() })
            .where(eq(session.session_id, current.session_id))
      })
    principals.clear()
    clearConsoleCookie(c)
    return c.body(null, 204)
  })
  return app
}
