import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { types } from 'mediasoup'

const WILDCARDS = ['0.0.0.0', '::']

/** The addresses that the worker listens on: the configured ones, else the address of the HTTP server. */
export function resolveListenAddresses(
  configured: readonly string[] | undefined,
  host: string,
): readonly string[] {
  if (configured) return configured
  return [isIP(host) ? host : '127.0.0.1']
}

/**
 * Replaces the addresses in the worker's candidates with the announced ones. Without announced addresses, a wildcard is
 * replaced with the current addresses of the machine, which may change between two calls.
 */
export function toReachableCandidates(
  candidates: readonly types.IceCandidate[],
  announced: readonly string[],
): types.IceCandidate[] {
  return candidates.flatMap(candidate => {
    const addresses = announced.length > 0 ? announced : expandWildcard(candidate.address)
    return addresses.map((address, index) => ({
      ...candidate,
      ip: address,
      address,
      foundation: `${candidate.foundation}${index || ''}`,
      priority: candidate.priority - index,
    }))
  })
}

/** Loopback addresses are used only on a machine that has no others. */
function expandWildcard(address: string): string[] {
  if (!WILDCARDS.includes(address)) return [address]
  const usable = Object.values(networkInterfaces())
    .flatMap(interfaces => interfaces ?? [])
    .filter(
      ({ family, address: local }) => !local.startsWith('fe80:') && (address === '::' || family === 'IPv4'),
    )
  const external = usable.filter(({ internal }) => !internal)
  return (external.length > 0 ? external : usable).map(({ address }) => address)
}
