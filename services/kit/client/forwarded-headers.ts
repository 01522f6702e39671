import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { EyrieError } from '@eyrie/contract/errors'

/** What a reverse proxy reports about a request that it has forwarded. */
export interface ForwardedRequest {
  /**
   * Addresses of the client and of the proxies on the way, in this order. Only the last one is
   * from the proxy itself.
   */
  addresses: string[]
  protocol?: 'http' | 'https'
  /** Host and port that the client has requested. */
  host?: string
}

/** Returns the names of the headers by which a proxy shows that it has forwarded the request. */
export const listForwardingHeaders = (headers: IncomingHttpHeaders): string[] =>
  Object.keys(headers).filter(name => /^(forwarded|via|x-real-ip|x-forwarded-.*)$/.test(name))

/**
 * Reads `X-Forwarded-For`, `-Proto` and `-Host`, or else the parameters of `Forwarded` (RFC 7239).
 * Throws `EyrieError` (`proxy`) if they do not name the client.
 */
export function parseForwardedHeaders(headers: IncomingHttpHeaders): ForwardedRequest {
  const forwarded = readForwarded(headers)
  const xForwarded = readXForwarded(headers)
  // The proxy sets one of these headers. The other one is from its client, who may have invented
  // it.
  if (forwarded.nodes.length > 0 && xForwarded.nodes.length > 0) {
    throw createProxyError(
      'sends both X-Forwarded-For and Forwarded: remove the one that it does not set itself',
    )
  }

  const { nodes, protocol, host } = forwarded.nodes.length > 0 ? forwarded : xForwarded
  if (nodes.length === 0) {
    throw createProxyError('does not send the address of its client in X-Forwarded-For')
  }
  return { addresses: nodes.map(parseNode), protocol: parseProtocol(protocol), host }
}

/**
 * The unparsed values of the headers. After several proxies, the protocol and the host are those of
 * the nearest one, which comes last.
 */
interface HeaderValues {
  /** The client and the proxies on the way, each as an address that may have a port. */
  nodes: string[]
  protocol: string | undefined
  host: string | undefined
}

function readForwarded(headers: IncomingHttpHeaders): HeaderValues {
  const elements = listValues(headers.forwarded).map(parseForwardedElement)
  const nearest = elements.at(-1)
  return {
    nodes: elements.map(element => element.get('for') ?? ''),
    protocol: nearest?.get('proto'),
    host: nearest?.get('host'),
  }
}

const readXForwarded = (headers: IncomingHttpHeaders): HeaderValues => ({
  nodes: listValues(headers['x-forwarded-for']),
  protocol: listValues(headers['x-forwarded-proto']).at(-1),
  host: listValues(headers['x-forwarded-host']).at(-1),
})

/** Returns the values of a header, which are separated by commas. */
const listValues = (header: string | string[] | undefined): string[] =>
  String(header ?? '')
    .split(',')
    .map(value => value.trim())
    .filter(Boolean)

/** Returns the parameters of an element such as `for="[2001:db8::1]:4711";proto=https`. */
function parseForwardedElement(element: string): Map<string, string> {
  // The groups are the name, the quote around the value, if any, and the value.
  const parameters = element.matchAll(/(?:^|;)\s*(\w+)\s*=\s*("?)([^";]*)\2/g)
  return new Map(
    Array.from(parameters, ([, name = '', , value = '']) => [name.toLowerCase(), value.trim()]),
  )
}

/** Returns the address of a node, which may have a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function parseNode(node: string): string {
  if (isIP(node)) return node
  const [, ipv6, ipv4] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(node) ?? []
  const address = ipv6 ?? ipv4 ?? ''
  // An invalid node is returned as it is. It is an error only if it turns out to be the client.
  return isIP(address) ? address : node
}

/** Some proxies name the protocol of a WebSocket, `ws` or `wss`. */
function parseProtocol(protocol: string | undefined): ForwardedRequest['protocol'] {
  if (protocol === undefined) return undefined
  return /^(https|wss)$/i.test(protocol) ? 'https' : 'http'
}

/** Creates the error of a trusted proxy that is configured wrongly. */
export const createProxyError = (problem: string) =>
  new EyrieError(
    'proxy',
    `the trusted proxy ${problem}; docs/guide/proxy.md has tested configurations`,
  )
