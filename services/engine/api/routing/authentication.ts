import { EyrieError } from '@eyrie/contract'
import { isKnownToken, isLoopback, parseBearerToken } from '@eyrie/kit/access-control'
import type { MiddlewareHandler } from 'hono'

/**
 * Requires one of the tokens as a bearer token, or as `?access_token=` on a WebSocket, because browsers cannot set
 * headers there. Without any tokens the engine listens on the loopback interface only. Requests must then come from a
 * loopback origin, so that no other web page can reach the engine through the browser of a visitor.
 */
export function authenticate(tokens: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const isSocket = c.req.header('Upgrade')?.toLowerCase() === 'websocket'
    const token =
      parseBearerToken(c.req.header('Authorization')) ?? (isSocket ? c.req.query('access_token') : undefined)
    if (tokens.length > 0 && !isKnownToken(token, tokens)) {
      c.header('WWW-Authenticate', 'Bearer')
      throw new EyrieError('auth', 'the token is missing or invalid: send Authorization: Bearer <token>')
    }
    if (tokens.length === 0 && ![c.req.url, c.req.header('Origin')].every(isLoopbackUrl))
      throw new EyrieError(
        'auth',
        'without tokens the engine accepts requests from loopback only: set EYRIE_ENGINE_TOKENS',
      )
    await next()
  }
}

function isLoopbackUrl(url: string | undefined): boolean {
  return url === undefined || (URL.canParse(url) && isLoopback(new URL(url).hostname))
}
