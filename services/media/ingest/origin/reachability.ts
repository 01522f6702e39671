import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'

const PATIENCE_MS = 3_000

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'cannot be reached: check that the camera is on and that host and port are right',
  ENOTFOUND: 'has a host that nobody knows: correct its name, or write its IP address',
  EAI_AGAIN: 'has a host that nobody knows: correct its name, or write its IP address',
}
const NO_TLS = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']
const PORTS: Record<string, number> = { 'http:': 80, 'https:': 443, 'rtsp:': 554, 'rtsps:': 322 }
const AWAY = 'cannot be reached: check that the camera is on, and the network to it'
const NETWORK_ERRORS = ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ABORT_ERR']

/**
 * Why no connection to a server comes about, in words that follow its name; undefined where one does. GStreamer only
 * says that there is none. Takes addresses of HTTP and RTSP, with and without TLS.
 */
export async function explainUnreachable(
  url: URL,
  tlsInsecure: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const secure = url.protocol.endsWith('s:')
  const port = Number(url.port) || PORTS[url.protocol]!
  const servername = isIP(host) ? undefined : host
  const socket = secure
    ? connectTls({ host, port, servername, rejectUnauthorized: !tlsInsecure })
    : connect({ host, port })
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
    await once(socket, secure ? 'secureConnect' : 'connect', { signal: limit })
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (NETWORK_ERRORS.includes(code)) return AWAY
    if (REASONS[code]) return REASONS[code]
    if (NO_TLS.includes(code))
      return `does not speak TLS: write ${url.protocol.slice(0, -2)} instead of ${url.protocol.slice(0, -1)}`
    if (/CERT|SIGNATURE|ISSUER/.test(code))
      return `shows a certificate that is not to be trusted (${code}): give it a valid one, or set tls_insecure`
    return `cannot be reached (${code}): check that the camera is on, and the network to it`
  } finally {
    // A socket that is given up may still fail.
    socket.on('error', () => {})
    socket.destroy()
  }
}
