import { getRequestClient } from '@eyrie/kit/client/request-client'
import { type Context, Hono } from 'hono'
import type { LocalSessions } from '../../users/local-sessions.ts'
import { readLocalCookie, setLocalCookie } from './console-cookie.ts'

/** Page of the console that explains why a link does not work. */
const INVALID_LINK_PAGE = '/link'

/** Returns whether a request comes from a browser on this machine that has opened a link. */
export const createLocalAccess = (sessions: LocalSessions) => (context: Context) =>
  getRequestClient(context).isLocal && sessions.isActive(readLocalCookie(context))

/**
 * `GET /?key=` starts a session for a browser on this machine, and redirects it to the console
 * without the key, so that the history of the browser does not contain it.
 */
export function createLinkRoutes(sessions: LocalSessions): Hono {
  const app = new Hono()
  const hasLocalAccess = createLocalAccess(sessions)

  app.get('/', async (c, next) => {
    const key = c.req.query('key')
    // A program that checks the link before a browser opens it must not use it up.
    if (key === undefined || c.req.method !== 'GET') return next()

    c.header('Cache-Control', 'no-store')
    const token = getRequestClient(c).isLocal ? await sessions.start(key) : undefined
    if (token) setLocalCookie(c, token)
    return c.redirect(token || hasLocalAccess(c) ? '/' : INVALID_LINK_PAGE, 303)
  })

  return app
}
