import { EyrieError } from '@eyrie/contract/errors'
import { getRequestClient } from '@eyrie/kit/client/request-client'
import type { MiddlewareHandler } from 'hono'

const LOCAL_HOSTNAMES = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Admits only pages of this console under a local host name. An appliance that listens on localhost
 * shows live views without sign-in, so other sites must not reach them through the viewer's
 * browser. The `Host` header reveals a site with a name that resolves to 127.0.0.1 (DNS rebinding).
 * The `Origin` header reveals a page of another site, even if it opens a WebSocket.
 */
export const allowLocalhostOnly: MiddlewareHandler = (c, next) => {
  const { host, isForwarded } = getRequestClient(c)
  // The name by which clients of a trusted proxy reach this console is that of the proxy.
  if (!isForwarded && !LOCAL_HOSTNAMES.has(removePort(host))) {
    throw forbidden(
      `this console answers only as localhost, not as "${host}": set EYRIE_MANAGEMENT_HOST to allow remote access, or EYRIE_TRUSTED_PROXIES behind a proxy`,
    )
  }
  return allowSameOriginOnly(c, next)
}

/** Rejects requests from pages of other sites, under any host name of this console. */
export const allowSameOriginOnly: MiddlewareHandler = async (c, next) => {
  const { host } = getRequestClient(c)
  const origin = c.req.header('origin')
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw forbidden(`pages of ${origin} may not read this console`)
  }
  await next()
}

/** Removes the port, for example from `[::1]:8080`. */
const removePort = (host: string) => host.replace(/:\d+$/, '').toLowerCase()

const forbidden = (reason: string) => new EyrieError('auth', reason, { status: 403 })
