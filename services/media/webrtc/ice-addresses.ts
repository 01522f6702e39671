import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { types } from 'mediasoup'

const wildcards = ['0.0.0.0', '::']

/** The addresses that the worker is to listen on: those configured, else where media itself listens. */
export function listenAddresses(configured: readonly string[] | undefined, host: string): readonly string[] {
  if (configured) return configured
  return [isIP(host) ? host : '127.0.0.1']
}

/**
 * Candidates by which viewers reach the worker: at the announced addresses, else at those it listens on. Where it listens
 * on all, these are the machine's as they are now, for they come and go.
 */
export function toReachableCandidates(
  candidates: readonly types.IceCandidate[],
  announced: readonly string[],
): types.IceCandidate[] {
  return candidates.flatMap(candidate => {
    const addresses = announced.length > 0 ? announced : addressesBehind(candidate.address)
    return addresses.map((address, index) => ({
      ...candidate,
      ip: address,
      address,
      foundation: `${candidate.foundation}${index || ''}`,
      priority: candidate.priority - index,
    }))
  })
}

function addressesBehind(address: string): string[] {
  if (!wildcards.includes(address)) return [address]
  const all = Object.values(networkInterfaces())
    .flatMap(each => each ?? [])
    .filter(({ family, address: own }) => !own.startsWith('fe80:') && (address === '::' || family === 'IPv4'))
  const outer = all.filter(({ internal }) => !internal)
  return (outer.length > 0 ? outer : all).map(each => each.address)
}
