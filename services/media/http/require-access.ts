import { EyrieError } from '@eyrie/contract'
import { isKnownToken, isLoopback, parseBearerToken } from '@eyrie/kit'
import { verifyTicket } from '@eyrie/kit/stream-ticket'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'

/**
 * Requires the internal token or one of `otherTokens`: in the Authorization header or, since browsers cannot set one on a
 * WebSocket, as `access_token` in the query. Without an internal token only this machine has access. A stream is also
 * accessible with a `ticket` for it.
 */
export function requireAccess(token: string | undefined, otherTokens: readonly string[] = []) {
  return createMiddleware<{ Bindings: HttpBindings }>(async (c, next) => {
    const ticket = token === undefined ? undefined : c.req.query('ticket')
    if (ticket !== undefined && isTicketValid(ticket, token!, c)) {
      await next()
      // The client's next request needs the ticket as well.
      const location = c.res.headers.get('Location')
      if (location) c.header('Location', `${location}?${new URLSearchParams({ ticket })}`)
      return
    }
    const sent = parseBearerToken(c.req.header('Authorization')) ?? c.req.query('access_token')
    const isAllowed = token
      ? isKnownToken(sent, [token, ...otherTokens])
      : isLoopback(c.env.incoming.socket.remoteAddress ?? '')
    if (!isAllowed) {
      c.header('WWW-Authenticate', 'Bearer')
      throw new EyrieError(
        'auth',
        token
          ? 'no valid token: send Authorization: Bearer <token>, or a ticket of this stream that has not expired'
          : 'access is limited to this machine because no token is configured: set EYRIE_INTERNAL_TOKEN',
      )
    }
    await next()
  })
}

/** Whether a ticket is valid for the requested stream. An established session outlives its ticket: its id is secret. */
function isTicketValid(text: string, token: string, c: Context): boolean {
  const ticket = verifyTicket(token, text)
  const [, stream, rest = ''] = /^\/streams\/([^/]+)(.*)$/.exec(c.req.path) ?? []
  if (!ticket || stream === undefined || decodeURIComponent(stream) !== ticket.stream) return false
  return rest.startsWith('/whep/') || Date.now() < ticket.expires
}
