import { isIPv6 } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

/** Address of the other end of the connection; empty where there is none. Headers of proxies are not believed. */
export function peerAddress(context: Context): string {
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>
  return incoming?.socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
}

/** Whom an address belongs to: with IPv6, a /64 is given to one and the same. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const parts = (text: string) => text.split(':').filter(Boolean)
  const missing = tail === undefined ? 0 : 8 - parts(head).length - parts(tail).length
  const all = [...parts(head), ...Array<string>(missing).fill('0'), ...parts(tail ?? '')]
  return `${all.slice(0, 4).join(':')}::/64`
}
