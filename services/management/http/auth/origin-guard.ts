import { EyrieError } from '@eyrie/contract/errors'
import type { MiddlewareHandler } from 'hono'

const localNames = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Where nobody has to sign in, only a page of this console may ask. A foreign site that lets its own name point to
 * 127.0.0.1 (DNS rebinding) is known by the Host header, one that opens a WebSocket to us by its Origin.
 */
export const guard: MiddlewareHandler = (c, next) => {
  const host = c.req.header('host') ?? ''
  if (!localNames.has(hostname(host))) {
    throw forbidden(
      `this console answers only as localhost, not as "${host}": set EYRIE_HOST to let others in`,
    )
  }
  return sameOrigin(c, next)
}

/** Where everybody has to sign in: pages of other sites may not ask, by whatever name this one is known. */
export const sameOrigin: MiddlewareHandler = async (c, next) => {
  const host = c.req.header('host') ?? ''
  const origin = c.req.header('origin')
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw forbidden(`pages of ${origin} may not read this console`)
  }
  await next()
}

/** `[::1]:8080` -> `[::1]`. */
const hostname = (host: string) => host.replace(/:\d+$/, '').toLowerCase()

const forbidden = (reason: string) => new EyrieError('auth', reason, { status: 403 })
