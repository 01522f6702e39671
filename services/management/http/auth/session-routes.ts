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
import { dropConsoleCookie, readConsoleCookie, requireOwnPage, setConsoleCookie } from './console-cookie.ts'
import type { Identify } from './identify-caller.ts'
import { addRetryAfter, readOrigin } from './sign-in-requests.ts'

const MOST_BYTES = 16 << 10

export interface SessionOptions {
  /** Whether live views are shown to this request without signing in. */
  isOpen(context: Context): boolean
  database(): Database
  identify: Identify
  /** Throws EyrieError `unavailable` while management starts. */
  users(): Pick<Users, 'passwords' | 'principals' | 'now'>
}

/** Signing in to the console: the session is in a cookie that no script reads and no other site makes use of. */
export function sessionRoutes({ isOpen, database, identify, users }: SessionOptions): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    requireOwnPage(c)
    await next()
  })

  app.get('/', async c => {
    const open = isOpen(c)
    // Nobody could sign in either.
    if (!open) database()
    try {
      const caller = await identify(c)
      const user = caller ? { email: caller.actor, role: caller.role } : null
      return c.json<SessionStatus>({ open, user })
    } catch (error) {
      const code = error instanceof EyrieError ? error.code : undefined
      if (code === 'auth') return c.json<SessionStatus>({ open, user: null })
      // What needs no signing in does not wait for the database.
      if (code !== 'unavailable' || !open) throw error
      const starting = readConsoleCookie(c) === undefined ? {} : { starting: true as const }
      return c.json<SessionStatus>({ open, user: null, ...starting })
    }
  })

  app.post('/', bodyLimit({ maxSize: MOST_BYTES }), async c => {
    const given = parseAs(credentials, await c.req.json().catch(() => undefined))
    const begun = await addRetryAfter(c, signIn(database(), given, readOrigin(c), users()))
    setConsoleCookie(c, begun.refresh_token)
    return c.body(null, 204)
  })

  app.delete('/', async c => {
    const token = readConsoleCookie(c)
    const { principals, now } = users()
    if (token !== undefined)
      await database().system('/session', async tx => {
        const found = await findSession(tx, token, now())
        if (found)
          await tx.update(session).set({ revoked_at: now() }).where(eq(session.session_id, found.session_id))
      })
    principals.clear()
    dropConsoleCookie(c)
    return c.body(null, 204)
  })
  return app
}
