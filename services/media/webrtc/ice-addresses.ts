import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { types } from 'mediasoup'

/** Addresses that mean all addresses of the machine. */
const WILDCARDS = ['0.0.0.0', '::']

/**
 * Returns the addresses on which the WebRTC worker listens for viewers: the configured ones, else
 * the address of the HTTP server.
 */
export function resolveListenAddresses(
  configured: readonly string[] | undefined,
  host: string,
): readonly string[] {
  if (configured) return configured
  return [isIP(host) ? host : '127.0.0.1']
}

/**
 * Replaces the addresses in the worker's ICE candidates with the announced addresses, by which
 * viewers reach this machine. Without announced addresses, a wildcard is replaced with the
 * machine's current addresses.
 */
export function toReachableCandidates(
  candidates: readonly types.IceCandidate[],
  announced: readonly string[],
): types.IceCandidate[] {
  return candidates.flatMap(candidate => {
    const addresses = announced.length > 0 ? announced : expandWildcard(candidate.address)
    return addresses.map((address, index) => copyCandidate(candidate, address, index))
  })
}

/**
 * Returns the candidate with another address. Copies with different addresses need different
 * foundations (RFC 8445, section 5.1.1.3) and priorities, so both depend on the index of the copy.
 */
function copyCandidate(
  candidate: types.IceCandidate,
  address: string,
  index: number,
): types.IceCandidate {
  const suffix = index === 0 ? '' : String(index)
  return {
    ...candidate,
    ip: address,
    address,
    foundation: candidate.foundation + suffix,
    priority: candidate.priority - index,
  }
}

/**
 * Returns the machine's addresses for a wildcard, and any other address as it is. Loopback
 * addresses are included only if the machine has no other addresses.
 */
function expandWildcard(listenAddress: string): string[] {
  if (!WILDCARDS.includes(listenAddress)) return [listenAddress]

  const allowsIPv6 = listenAddress === '::'
  const localAddresses = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? [])
  const usable = localAddresses.filter(
    ({ family, address }) => (allowsIPv6 || family === 'IPv4') && !isLinkLocal(address),
  )

  const external = usable.filter(({ internal }) => !internal)
  const chosen = external.length > 0 ? external : usable
  return chosen.map(({ address }) => address)
}

const isLinkLocal = (address: string) => address.startsWith('fe80:')
