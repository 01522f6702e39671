import { EyrieError } from '@eyrie/contract'
import { bearer, isAccepted } from '@eyrie/kit'
import type { HttpBindings } from '@hono/node-server'
import { createMiddleware } from 'hono/factory'

/**
 * Lets in who has the internal token: in the Authorization header or, since browsers cannot set one on a WebSocket,
 * as `access_token` in the query. Where no token is configured only this machine may come.
 */
export function requireAccess(token: string | undefined) {
  return createMiddleware<{ Bindings: HttpBindings }>(async (c, next) => {
    const sent = bearer(c.req.header('Authorization')) ?? c.req.query('access_token')
    const welcome = token ? isAccepted(sent, [token]) : isLoopback(c.env.incoming.socket.remoteAddress)
    if (!welcome)
      throw new EyrieError(
        'auth',
        token
          ? 'no valid token: send Authorization: Bearer <token>'
          : 'only this machine may ask, since no token is configured: set EYRIE_INTERNAL_TOKEN',
      )
    await next()
  })
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1$|(::ffff:)?127\.)/.test(address)
}
