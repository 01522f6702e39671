import { isIPv6 } from 'node:net'

/** Where a server listens for TCP connections. */
export interface ServerAddress {
  /** Host name or IP address. */
  host: string
  port: number
}

const DEFAULT_PORTS: Record<string, number> = {
  'http:': 80,
  'https:': 443,
  'rtsp:': 554,
  'rtsps:': 322,
}

/**
 * Returns the host and port of an HTTP or RTSP URL. Undefined for any other address, such as a
 * file.
 */
export function findServerAddress(url: string): ServerAddress | undefined {
  const parsed = URL.parse(url)
  const defaultPort = parsed && DEFAULT_PORTS[parsed.protocol]
  if (!defaultPort || parsed.hostname === '') return undefined
  // IPv6 addresses are in brackets.
  return { host: parsed.hostname.replace(/^\[|\]$/g, ''), port: Number(parsed.port) || defaultPort }
}

/** Formats the address as in URLs, with an IPv6 address in brackets. */
export const formatServerAddress = ({ host, port }: ServerAddress): string =>
  `${isIPv6(host) ? `[${host}]` : host}:${port}`
