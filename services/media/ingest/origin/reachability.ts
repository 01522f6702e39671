import { isIPv6 } from 'node:net'
import { EgressDeniedError, findServerAddress } from '@eyrie/kit'
import type { OpenContext } from './origin.ts'
import { SourceFault } from './source-fault.ts'

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

/** An HTTP or RTSP server. */
interface Server {
  url: URL
  /** Whether the server may present any certificate. */
  tlsInsecure: boolean
}

/**
 * Connects to an HTTP or RTSP server, with or without TLS, to find out why GStreamer could not
 * connect. Returns the reason as a predicate to append to the server's name ("cannot be reached:
 * …"); undefined if the connection succeeds.
 */
export async function explainUnreachable(
  { url, tlsInsecure }: Server,
  { egress, signal }: Pick<OpenContext, 'egress' | 'signal'>,
): Promise<string | undefined> {
  try {
    const aborted = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
    const socket = await egress.connect(getServerAddress(url), {
      signal: aborted,
      ...(isSecure(url) && { tls: { rejectUnauthorized: !tlsInsecure } }),
    })
    socket.destroy()
    return undefined
  } catch (error) {
    return explainConnectError(error as NodeJS.ErrnoException, url)
  }
}

/**
 * Returns the address of a server with the IP address in place of the host name, for elements of
 * GStreamer, which resolve names by themselves. A name under TLS remains, because the certificate
 * proves that the server has this name. Throws a `SourceFault` that begins with `name` if the host
 * is unknown, or if the rules for outgoing connections deny it.
 */
export async function pinHost(
  { url, tlsInsecure, name }: Server & { name: string },
  { egress, signal }: Pick<OpenContext, 'egress' | 'signal'>,
): Promise<URL> {
  const isProven = isSecure(url) && !tlsInsecure
  const server = getServerAddress(url)
  try {
    if (isProven) {
      await egress.resolve(server)
      return url
    }
    const address = await egress.pin(server, signal)
    const pinned = new URL(url)
    pinned.hostname = isIPv6(address) ? `[${address}]` : address
    return pinned
  } catch (error) {
    signal.throwIfAborted()
    const reason = explainConnectError(error as NodeJS.ErrnoException, url)
    throw new SourceFault(`${name} ${reason}`, { transient: true, cause: error })
  }
}

/** Whether the scheme has TLS: `https`, `rtsps` and the like. */
const isSecure = ({ protocol }: URL) => protocol.endsWith('s:')

/** The URL of an HTTP or RTSP server always has a host. */
const getServerAddress = (url: URL) => findServerAddress(url.href)!

function explainConnectError(error: NodeJS.ErrnoException, { protocol }: URL): string {
  if (error instanceof EgressDeniedError) return `cannot be used: ${error.message}`
  // An `AggregateError` has one error for each address of the host.
  const { code = '' } = error instanceof AggregateError ? error.errors[0] : error
  if (CONNECT_REASONS[code]) return CONNECT_REASONS[code]

  if (NO_TLS_CODES.includes(code)) {
    const secureScheme = protocol.replace(':', '')
    const plainScheme = secureScheme.replace(/s$/, '')
    return `does not support TLS: use ${plainScheme} instead of ${secureScheme}`
  }

  // Node.js has many codes for certificates, such as SELF_SIGNED_CERT_IN_CHAIN.
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    return `presents an untrusted certificate (${code}): install a valid one, or set tls_insecure`
  }
  return `cannot be reached (${code}): check that the camera is on, and the network to it`
}
