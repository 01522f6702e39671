import { EyrieError } from '@eyrie/contract'
import type { Route } from '@eyrie/contract/routes-v3'
import { isKnownToken, isLoopback, parseBearerToken } from '@eyrie/kit/access-control'
import { getRequestClient } from '@eyrie/kit/client/request-client'
import type { Context, MiddlewareHandler } from 'hono'

const VALID_TOKENS =
  'valid ones are in EYRIE_ENGINE_TOKENS of the engine, or else in secrets/engine-token of its data folder'

/**
 * Creates the middleware that rejects requests without one of these tokens. If there are no tokens,
 * it rejects requests that do not come from this machine.
 */
export function authenticate(tokens: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    if (tokens.length > 0) assertKnownToken(c, tokens)
    else assertFromLoopback(c)
    await next()
  }
}

function assertKnownToken(c: Context, tokens: readonly string[]): void {
  const token = readToken(c)
  if (isKnownToken(token, tokens)) return
  c.header('WWW-Authenticate', 'Bearer')
  const problem =
    token === undefined
      ? 'the request contains no token: send Authorization: Bearer <token>'
      : 'the engine does not accept this token'
  throw new EyrieError('auth', `${problem}; ${VALID_TOKENS}`)
}

/**
 * Throws `EyrieError` (`rights`) if the route requires a scope that the client's token lacks.
 * Plugins are code that the engine runs: if there are tokens for plugins, only these may
 * install and remove them.
 */
export function assertInScope(c: Context, { scope }: Route, pluginTokens: readonly string[]): void {
  if (
    scope === undefined ||
    pluginTokens.length === 0 ||
    isKnownToken(readToken(c), pluginTokens)
  ) {
    return
  }
  throw new EyrieError(
    'rights',
    'this token does not permit changing plugins: ' +
      'send one in EYRIE_PLUGIN_TOKENS of the engine, or else in secrets/plugin-token of its data folder',
  )
}

/**
 * Reads the bearer token. A WebSocket may have it in `?access_token=`, because browsers
 * cannot set headers there.
 */
function readToken(c: Context): string | undefined {
  const bearerToken = parseBearerToken(c.req.header('Authorization'))
  if (bearerToken !== undefined) return bearerToken
  const isWebSocket = c.req.header('Upgrade')?.toLowerCase() === 'websocket'
  return isWebSocket ? c.req.query('access_token') : undefined
}

/**
 * Throws `EyrieError` (`auth`) unless a program on this machine has sent the request. The origin is
 * checked because a browser on this machine may show a web page from elsewhere.
 */
function assertFromLoopback(c: Context): void {
  const origin = c.req.header('Origin')
  const isForwarded = getRequestClient(c).isForwarded
  if (!isForwarded && isLoopbackUrl(c.req.url) && (origin === undefined || isLoopbackUrl(origin))) {
    return
  }
  throw new EyrieError(
    'auth',
    'without tokens the engine accepts requests from loopback only: set EYRIE_ENGINE_TOKENS',
  )
}

function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname)
}
