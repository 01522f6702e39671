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
 * Returns a middleware that requires a token or a ticket. The token is the internal token, or
 * another one whose digest is in `tokenDigests`. It is sent in the `Authorization` header, or as
 * `access_token` in the query because browsers cannot set headers of WebSockets. A `ticket` in the
 * query gives access to one stream for a limited time. If no internal token is configured, only
 * this machine has access.
 */
export function requireAccess(
  internalToken: string | undefined,
  tokenDigests: readonly string[] = [],
) {
  return createMiddleware(async (c, next) => {
    if (!internalToken) {
      if (!getRequestClient(c).isLocal) throw createAuthError(c, NO_TOKEN_CONFIGURED)
      return next()
    }

    const ticket = c.req.query('ticket')
    if (ticket !== undefined && isTicketValid(ticket, internalToken, c)) {
      await next()
      addTicketToLocation(c, ticket)
      return
    }

    const sentToken = parseBearerToken(c.req.header('Authorization')) ?? c.req.query('access_token')
    const isAllowed =
      isKnownToken(sentToken, [internalToken]) || hasKnownDigest(sentToken, tokenDigests)
    if (!isAllowed) throw createAuthError(c, describeProblem(sentToken, ticket))
    await next()
  })
}

/**
 * Adds the ticket to the address of a created resource, because the client's requests to it
 * need the ticket as well.
 */
function addTicketToLocation(c: Context, ticket: string): void {
  const location = c.res.headers.get('Location')
  if (location) c.header('Location', `${location}?${new URLSearchParams({ ticket })}`)
}

function createAuthError(c: Context, reason: string): EyrieError {
  c.header('WWW-Authenticate', 'Bearer')
  return new EyrieError('auth', reason)
}

function describeProblem(sentToken: string | undefined, ticket: string | undefined): string {
  if (sentToken !== undefined) return INVALID_TOKEN
  return ticket === undefined ? NO_TOKEN : INVALID_TICKET
}

/**
 * Whether a ticket, signed with the internal token, is valid for the requested stream. Requests
 * to an established WHEP session are allowed even after the ticket has expired, because the
 * session ID is secret.
 */
function isTicketValid(text: string, internalToken: string, c: Context): boolean {
  const ticket = verifyTicket(internalToken, text)
  const [, stream, subpath = ''] = /^\/streams\/([^/]+)(.*)$/.exec(c.req.path) ?? []
  if (!ticket || stream === undefined || decodeURIComponent(stream) !== ticket.stream) return false

  const isSessionRequest = subpath.startsWith('/whep/')
  return isSessionRequest || Date.now() < ticket.expires
}
