import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

/** Address of the other end of the connection; empty where there is none. Headers of proxies are not believed. */
export function peerAddress(context: Context): string {
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>
  return incoming?.socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
}
