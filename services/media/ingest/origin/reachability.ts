import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'

const CONNECT_TIMEOUT_MS = 3_000

const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443, 'rtsp:': 554, 'rtsps:': 322 }

const UNKNOWN_HOST = 'has an unknown host name: correct it, or use the IP address'
const UNREACHABLE = 'cannot be reached: check that the camera is on, and the network to it'
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'cannot be reached: check that the camera is on and that host and port are correct',
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EHOSTDOWN: UNREACHABLE,
  ABORT_ERR: UNREACHABLE,
}
const NO_TLS = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']

/**
 * Connects to an HTTP or RTSP server, with or without TLS, and explains a failure in words that follow the server's name.
 * Returns undefined if the connection succeeds. GStreamer only reports that it could not connect.
 */
export async function explainUnreachable(
  url: URL,
  tlsInsecure: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isSecure = url.protocol.endsWith('s:')
  const port = Number(url.port) || DEFAULT_PORTS[url.protocol]!
  const servername = isIP(host) ? undefined : host
  const socket = isSecure
    ? connectTls({ host, port, servername, rejectUnauthorized: !tlsInsecure })
    : connect({ host, port })
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
    await once(socket, isSecure ? 'secureConnect' : 'connect', { signal: limit })
    return undefined
  } catch (error) {
    return explainConnectError((error as NodeJS.ErrnoException).code ?? '', url)
  } finally {
    // An abandoned socket may still emit an error.
    socket.on('error', () => {})
    socket.destroy()
  }
}

function explainConnectError(code: string, { protocol }: URL): string {
  if (REASONS[code]) return REASONS[code]
  if (NO_TLS.includes(code))
    return `does not support TLS: use ${protocol.slice(0, -2)} instead of ${protocol.slice(0, -1)}`
  if (/CERT|SIGNATURE|ISSUER/.test(code))
    return `presents an untrusted certificate (${code}): install a valid one, or set tls_insecure`
  return `cannot be reached (${code}): check that the camera is on, and the network to it`
}
