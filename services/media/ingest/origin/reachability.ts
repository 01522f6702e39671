import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { findServerAddress } from '@eyrie/kit'

const CONNECT_TIMEOUT_MS = 3_000

// The reasons continue a sentence that begins with the name of the camera.
const UNKNOWN_HOST = 'has an unknown host name: correct it, or use the IP address'
const UNREACHABLE = 'cannot be reached: check that the camera is on, and the network to it'
const CONNECT_REASONS: Record<string, string> = {
  ECONNREFUSED: 'cannot be reached: check that the camera is on and that host and port are correct',
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EHOSTDOWN: UNREACHABLE,
  ABORT_ERR: UNREACHABLE,
}
/** Errors of a TLS handshake with a server that does not support TLS. */
const NO_TLS_CODES = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']

/**
 * Connects to an HTTP or RTSP server, with or without TLS, to find out why GStreamer could not connect. Returns the reason as a
 * predicate to append to the server's name ("cannot be reached: …"); undefined if the connection succeeds.
 */
export async function explainUnreachable(
  url: URL,
  tlsInsecure: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { host, port } = findServerAddress(url.href)!
  const isSecure = url.protocol.endsWith('s:')
  const servername = isIP(host) ? undefined : host
  const socket = isSecure
    ? connectTls({ host, port, servername, rejectUnauthorized: !tlsInsecure })
    : connect({ host, port })

  try {
    const aborted = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
    await once(socket, isSecure ? 'secureConnect' : 'connect', { signal: aborted })
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
  if (CONNECT_REASONS[code]) return CONNECT_REASONS[code]

  if (NO_TLS_CODES.includes(code)) {
    const secureScheme = protocol.replace(':', '')
    const plainScheme = secureScheme.replace(/s$/, '')
    return `does not support TLS: use ${plainScheme} instead of ${secureScheme}`
  }

  // Node.js has many codes for certificates, such as SELF_SIGNED_CERT_IN_CHAIN.
  if (/CERT|SIGNATURE|ISSUER/.test(code))
    return `presents an untrusted certificate (${code}): install a valid one, or set tls_insecure`
  return `cannot be reached (${code}): check that the camera is on, and the network to it`
}
