import { EyrieError } from '@eyrie/contract'
import { isKnownToken, isLoopback, parseBearerToken } from '@eyrie/kit/access-control'
import type { MiddlewareHandler } from 'hono'

/**
 * Lets in who sends one of the tokens: as a bearer, or on a WebSocket as `?access_token=`, since browsers cannot set
 * its headers. Without tokens the engine listens on the loopback alone; then only pages of the loopback may ask, so
 * that no other web page can use the visitor's browser to reach it.
 */
export function authenticate(tokens: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const isSocket = c.req.header('Upgrade')?.toLowerCase() === 'websocket'
    const token =
      parseBearerToken(c.req.header('Authorization')) ?? (isSocket ? c.req.query('access_token') : undefined)
    if (tokens.length > 0 && !isKnownToken(token, tokens)) {
      c.header('WWW-Authenticate', 'Bearer')
      throw new EyrieError('auth', 'no valid token was sent: send Authorization: Bearer <token>')
    }
    if (tokens.length === 0 && ![c.req.url, c.req.header('Origin')].every(isLoopbackUrl))
      throw new EyrieError(
        'auth',
        'without a token the engine answers the loopback alone: set EYRIE_ENGINE_TOKENS',
      )
    await next()
  }
}

function isLoopbackUrl(url: string | undefined): boolean {
  return url === undefined || (URL.canParse(url) && isLoopback(new URL(url).hostname))
}
