import type { Server } from 'node:net'
import { isLoopback } from './access-control.ts'
import type { TrustedProxies } from './client/trusted-proxies.ts'
import { toNetwork } from './client-network.ts'

/** Maximum numbers of simultaneous connections, including WebSockets and live views. */
export interface ConnectionLimits {
  /** From one client: an IPv4 address or an IPv6 /64 prefix. */
  perClient: number
  /**
   * From this machine, which includes the other services, and from each trusted proxy
   * with all of its clients.
   */
  shared: number
}

/**
 * A page with a wall of cameras opens about a hundred connections, and an office shares one
 * address.
 */
export const CONNECTION_LIMITS: ConnectionLimits = { perClient: 1024, shared: 8192 }

/**
 * Closes new connections of a client that has too many already, so that a single client cannot use
 * up the file descriptors of the service. Calls `onLimit` with a client that reaches its limit, and
 * again only after it has had far fewer connections.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  proxies: TrustedProxies,
  onLimit: (client: string) => void,
): void {
  const countByClient = new Map<string, number>()
  const limitedClients = new Set<string>()

  /** Returns the client to which connections from an address count, and its limit. */
  function identifyClient(address: string): { client: string; limit: number } {
    if (isLoopback(address)) return { client: 'this machine', limit: limits.shared }
    if (proxies.includes(address)) return { client: address, limit: limits.shared }
    return { client: toNetwork(address), limit: limits.perClient }
  }

  server.prependListener('connection', socket => {
    const { client, limit } = identifyClient(socket.remoteAddress ?? '')
    const count = countByClient.get(client) ?? 0
    if (count >= limit) {
      if (!limitedClients.has(client)) onLimit(client)
      limitedClients.add(client)
      socket.destroy()
      return
    }

    countByClient.set(client, count + 1)
    socket.once('close', () => {
      // The client has at least the connection that closes.
      const remaining = countByClient.get(client)! - 1
      if (remaining > 0) countByClient.set(client, remaining)
      else countByClient.delete(client)
      // A client at its limit is reported again only after it has closed half of its connections.
      if (remaining <= limit / 2) limitedClients.delete(client)
    })
  })
}
