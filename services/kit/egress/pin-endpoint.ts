import type { Egress } from './egress.ts'
import { formatServerAddress } from './server-address.ts'

/**
 * Returns a ZeroMQ endpoint with the IP address in place of the host name, because ZeroMQ resolves
 * names by itself. Other endpoints than `tcp://` remain unchanged. Throws as `Egress.pin` does.
 */
export async function pinEndpoint(
  egress: Egress,
  endpoint: string,
  signal: AbortSignal,
): Promise<string> {
  const [, host, port] = /^tcp:\/\/(.+):(\d+)$/.exec(endpoint) ?? []
  if (!host) return endpoint
  const address = await egress.pin(
    { host: host.replace(/^\[|\]$/g, ''), port: Number(port) },
    signal,
  )
  return `tcp://${formatServerAddress({ host: address, port: Number(port) })}`
}
