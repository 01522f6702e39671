import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'

const PATIENCE_MS = 3_000

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'cannot be reached: check that the camera is on and that host and port are right',
  ENOTFOUND: 'has a host that nobody knows: correct its name, or write its IP address',
  EAI_AGAIN: 'has a host that nobody knows: correct its name, or write its IP address',
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS: write http instead of https',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'does not speak TLS: write http instead of https',
  EPROTO: 'does not speak TLS: write http instead of https',
}
const AWAY = 'cannot be reached: check that the camera is on, and the network to it'
const NETWORK_ERRORS = ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ABORT_ERR']

/**
 * Why no connection to a server comes about, in words that follow its name; undefined where one does. GStreamer only
 * says that there is none.
 */
export async function whyUnreachable(
  url: URL,
  tlsInsecure: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const secure = url.protocol === 'https:'
  const port = Number(url.port) || (secure ? 443 : 80)
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
    if (/CERT|SIGNATURE|ISSUER/.test(code))
      return `shows a certificate that is not to be trusted (${code}): give it a valid one, or set tls_insecure`
    return `cannot be reached (${code}): check that the camera is on, and the network to it`
  } finally {
    // A socket that is given up may still fail.
    socket.on('error', () => {})
    socket.destroy()
  }
}
