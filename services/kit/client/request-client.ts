import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { EyrieError } from '@eyrie/contract/errors'
import type { Context } from 'hono'
import {
  createProxyError,
  listForwardingHeaders,
  parseForwardedHeaders,
} from './forwarded-headers.ts'
import { isLoopbackAddress, toPlainAddress } from './plain-address.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

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
 * Determines the client of a request, which `getRequestClient` returns from then on. Throws
 * `EyrieError` (`proxy`) if a proxy that is not trusted has forwarded the request. Such a proxy may
 * invent clients, and its clients would otherwise look like this machine.
 */
export function identifyClient(incoming: IncomingMessage, trusted: TrustedProxies): void {
  clients.set(incoming, findClient(incoming, trusted))
}

/** Returns the client of a request. */
export function getRequestClient(c: Context): RequestClient {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  const identified = incoming && clients.get(incoming)
  if (identified) return identified
  // The app was called without the server that identifies clients.
  const { protocol, host } = new URL(c.req.url)
  return {
    ...createDirectClient(incoming?.socket ?? {}, c.req.header('Host') ?? host),
    protocol: protocol === 'https:' ? 'https' : 'http',
  }
}

function findClient({ headers, socket }: IncomingMessage, trusted: TrustedProxies): RequestClient {
  const peer = createDirectClient(socket, headers.host ?? '')
  const forwardingHeaders = listForwardingHeaders(headers)
  if (forwardingHeaders.length === 0) return peer
  if (!trusted.includes(peer.address)) throw createUntrustedError(peer.address, forwardingHeaders)

  const { addresses, protocol = peer.protocol, host = peer.host } = parseForwardedHeaders(headers)
  if (!URL.canParse(`http://${host}`)) {
    throw createProxyError(`names the host "${host}", which is not valid`)
  }
  return {
    address: findFirstUntrusted(addresses, trusted),
    protocol,
    host,
    isForwarded: true,
    isLocal: false,
  }
}

/** The parts of a connection that show its client. */
type Connection = Partial<Pick<TLSSocket, 'remoteAddress' | 'localAddress' | 'encrypted'>>

/** Returns the client at the other end of a connection, which may be a proxy. */
function createDirectClient(
  { remoteAddress, localAddress, encrypted }: Connection,
  host: string,
): RequestClient {
  const address = toPlainAddress(remoteAddress)
  // Only this machine itself can connect from the address to which it connects.
  const isLocal =
    address !== '' && (isLoopbackAddress(address) || address === toPlainAddress(localAddress))
  return { address, protocol: encrypted ? 'https' : 'http', host, isForwarded: false, isLocal }
}

/**
 * Returns the client: the last address that is not a trusted proxy. The addresses before it are
 * only what the client has claimed.
 */
function findFirstUntrusted(addresses: readonly string[], trusted: TrustedProxies): string {
  const address =
    addresses.findLast(candidate => !trusted.includes(candidate)) ?? addresses[0] ?? ''
  if (!isIP(address)) {
    throw createProxyError(`names its client "${address}", which is no IP address`)
  }
  return toPlainAddress(address)
}

/** Creates the error of a forwarded request that does not come from a trusted proxy. */
const createUntrustedError = (peer: string, headers: readonly string[]) =>
  new EyrieError(
    'proxy',
    `${peer || 'the client'} is no trusted proxy, and has sent the header ${headers.join(', ')}: set EYRIE_TRUSTED_PROXIES to the address of your proxy, or remove the header`,
    { value: { address: peer, headers } },
  )
