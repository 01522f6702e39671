import { EyrieError } from '@eyrie/contract'
import { getRequestClient, hasKnownDigest, isKnownToken, parseBearerToken } from '@eyrie/kit'
import { verifyTicket } from '@eyrie/kit/stream-ticket'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'

const NO_TOKEN =
  'the request contains no token: send Authorization: Bearer <token> with a token of the engine, or add a ticket of this stream'
const INVALID_TOKEN =
  'the media service does not accept this token: send a token of the engine (EYRIE_ENGINE_TOKENS, or else secrets/engine-token of the data folder)'
const INVALID_TICKET =
  'this ticket has expired or belongs to another stream: request another one with POST /api/v1/media/ticket'
const NO_TOKEN_CONFIGURED =
  'access is limited to this machine because no token is configured: set EYRIE_INTERNAL_TOKEN'

/**
 * Protects routes: requires a token or a ticket. The token is the internal token, or one whose digest is in `otherDigests`. It is
 * sent in the `Authorization` header or as `access_token` in the query, because browsers cannot set headers of WebSockets. A
 * `ticket` in the query gives access to one stream for a limited time. If no internal token is configured, only this machine
 * has access.
 */
export function requireAccess(token: string | undefined, otherDigests: readonly string[] = []) {
  return createMiddleware(async (c, next) => {
    const ticket = token === undefined ? undefined : c.req.query('ticket')
    if (ticket !== undefined && isTicketValid(ticket, token!, c)) {
      await next()
      // The client's next request needs the same ticket.
      const location = c.res.headers.get('Location')
      if (location) c.header('Location', `${location}?${new URLSearchParams({ ticket })}`)
      return
    }

    const sentToken = parseBearerToken(c.req.header('Authorization')) ?? c.req.query('access_token')
    const isAllowed = token
      ? isKnownToken(sentToken, [token]) || hasKnownDigest(sentToken, otherDigests)
      : getRequestClient(c).isLocal
    if (!isAllowed) {
      c.header('WWW-Authenticate', 'Bearer')
      throw new EyrieError('auth', token ? describeProblem(sentToken, ticket) : NO_TOKEN_CONFIGURED)
    }
    await next()
  })
}

function describeProblem(sentToken: string | undefined, ticket: string | undefined): string {
  if (sentToken !== undefined) return INVALID_TOKEN
  return ticket === undefined ? NO_TOKEN : INVALID_TICKET
}

/**
 * Returns whether a ticket is valid for the requested stream. Requests to an established WHEP session are allowed even after the
 * ticket has expired, because the session ID is secret.
 */
function isTicketValid(text: string, token: string, c: Context): boolean {
  const ticket = verifyTicket(token, text)
  const [, stream, subpath = ''] = /^\/streams\/([^/]+)(.*)$/.exec(c.req.path) ?? []
  if (!ticket || stream === undefined || decodeURIComponent(stream) !== ticket.stream) return false
  return subpath.startsWith('/whep/') || Date.now() < ticket.expires
}
