import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { EyrieError } from '@eyrie/contract/errors'
import type { Context } from 'hono'
import { listForwardingHeaders, misconfigured, parseForwardedHeaders } from './forwarded-headers.ts'
import { isLoopbackAddress, toPlainAddress } from './plain-address.ts'
import { NO_TRUSTED_PROXIES, type TrustedProxies } from './trusted-proxies.ts'

/** The client of a request, as a trusted proxy or the connection itself shows it. */
export interface RequestClient {
  /** IP address, or an empty string if the connection is closed. */
  address: string
  protocol: 'http' | 'https'
  /** Host and port that the client has requested. */
  host: string
  /** Whether the request has come through a trusted proxy. */
  isForwarded: boolean
  /** Whether the client runs on this machine and has connected to it directly. */
  isLocal: boolean
}

const clients = new WeakMap<IncomingMessage, RequestClient>()

/**
 * Determines the client of a request, which `getRequestClient` returns from then on. Throws `EyrieError` (`proxy`) if the request
 * was forwarded by a proxy that is not trusted: what it reports may be invented, and what it does not report would make
 * its clients look like this machine.
 */
export function identifyClient(incoming: IncomingMessage, trusted: TrustedProxies): void {
  clients.set(incoming, findClient(incoming, trusted))
}

/** Returns the client of a request. */
export function getRequestClient(c: Context): RequestClient {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  const identified = incoming && clients.get(incoming)
  if (identified) return identified
  // Requests to an app without a server.
  const { protocol, host } = new URL(c.req.url)
  const direct = incoming && findClient({ headers: {}, socket: incoming.socket }, NO_TRUSTED_PROXIES)
  return {
    ...{ address: '', isForwarded: false, isLocal: false },
    ...direct,
    protocol: protocol === 'https:' ? 'https' : 'http',
    host: c.req.header('Host') ?? host,
  }
}

function findClient(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  trusted: TrustedProxies,
): RequestClient {
  const peer = toPlainAddress(socket.remoteAddress)
  const direct = {
    address: peer,
    protocol: (socket as Partial<TLSSocket>).encrypted ? 'https' : 'http',
    host: headers.host ?? '',
    isForwarded: false,
    // Without a proxy, an address of this machine connects only to itself.
    isLocal: peer !== '' && (isLoopbackAddress(peer) || peer === toPlainAddress(socket.localAddress)),
  } as const
  const forwarding = listForwardingHeaders(headers)
  if (forwarding.length === 0) return direct
  if (!trusted.includes(peer)) throw untrusted(peer, forwarding)

  const { addresses, protocol = direct.protocol, host = direct.host } = parseForwardedHeaders(headers)
  if (!URL.canParse(`http://${host}`)) throw misconfigured(`names the host "${host}", which is not valid`)
  return {
    address: findFirstUntrusted(addresses, trusted),
    protocol,
    host,
    isForwarded: true,
    isLocal: false,
  }
}

/** Goes from the nearest proxy back to the client. Addresses before the client's are what the client has claimed. */
function findFirstUntrusted(addresses: readonly string[], trusted: TrustedProxies): string {
  const address = addresses.findLast(each => !trusted.includes(each)) ?? addresses[0] ?? ''
  if (!isIP(address)) throw misconfigured(`names its client "${address}", which is no IP address`)
  return toPlainAddress(address)
}

const untrusted = (peer: string, headers: readonly string[]) =>
  new EyrieError(
    'proxy',
    `${peer || 'the client'} is no trusted proxy, and has sent the header ${headers.join(', ')}: set EYRIE_TRUSTED_PROXIES to the address of your proxy, or remove the header`,
    { value: { address: peer, headers } },
  )
