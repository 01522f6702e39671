import { EyrieError } from '@eyrie/contract'
import { isKnownToken, isLoopback, parseBearerToken } from '@eyrie/kit'
import { verifyTicket } from '@eyrie/kit/stream-ticket'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'

/**
 * Lets in who has the internal token: in the Authorization header or, since browsers cannot set one on a WebSocket,
 * as `access_token` in the query. Where no token is configured only this machine may come. A stream is also shown to who
 * has a `ticket` for it. `others` are tokens that will do as well.
 */
export function requireAccess(token: string | undefined, others: readonly string[] = []) {
  return createMiddleware<{ Bindings: HttpBindings }>(async (c, next) => {
    const sent = parseBearerToken(c.req.header('Authorization')) ?? c.req.query('access_token')
    const ticket = token === undefined ? undefined : c.req.query('ticket')
    if (ticket !== undefined && admits(ticket, token!, c)) {
      await next()
      // Whoever has come by a ticket goes by it, too.
      const location = c.res.headers.get('Location')
      if (location) c.header('Location', `${location}?${new URLSearchParams({ ticket })}`)
      return
    }
    const welcome = token
      ? isKnownToken(sent, [token, ...others])
      : isLoopback(c.env.incoming.socket.remoteAddress ?? '')
    if (!welcome) {
      c.header('WWW-Authenticate', 'Bearer')
      throw new EyrieError(
        'auth',
        token
          ? 'no valid token: send Authorization: Bearer <token>, or a ticket of this stream that has not expired'
          : 'only this machine may ask, since no token is configured: set EYRIE_INTERNAL_TOKEN',
      )
    }
    await next()
  })
}

function admits(text: string, token: string, c: Context): boolean {
  const ticket = verifyTicket(token, text)
  const [, stream, rest = ''] = /^\/streams\/([^/]+)(.*)$/.exec(c.req.path) ?? []
  if (!ticket || stream === undefined || decodeURIComponent(stream) !== ticket.stream) return false
  // A session that goes on is asked for by its own secret id.
  return rest.startsWith('/whep/') || Date.now() < ticket.expires
}
