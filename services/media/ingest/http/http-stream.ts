import type { AddressObject } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'
import type { OpenContext } from '../origin/origin.ts'
import { pinHost } from '../origin/reachability.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { extractCredentials } from '../origin/url-credentials.ts'

/** The address and request settings of a stream over HTTP. */
export interface HttpStream {
  /** The address without credentials and query parameters. */
  name: string
  url: URL
  /** The URL with the address that is connected to, in place of the host name. */
  location: URL
  /** Kind of credentials in the request. */
  credentials: 'token' | 'password' | 'none'
  tlsInsecure: boolean
  /**
   * Configures the element `souphttpsrc name=origin`. If `isLive`, pictures without timestamps
   * are stamped on arrival.
   */
  configure(pipeline: Pipeline, options: { isLive: boolean }): void
  /** Returns the stream at another path of the same server; undefined for another server. */
  redirect(target: string): HttpStream | undefined
}

/**
 * Parses an HTTP address and resolves its host. Throws a `SourceFault` for any other URL, and for a
 * host that is unknown or denied.
 */
export async function openHttpStream(
  address: AddressObject,
  context: Pick<OpenContext, 'egress' | 'signal'>,
): Promise<HttpStream> {
  const url = URL.parse(address.url)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new SourceFault('invalid HTTP address: use http://host/path or https://host/path', {
      transient: false,
    })
  }

  const { username, password } = extractCredentials(url, address)
  const { token } = address
  const tlsInsecure = address.tls_insecure ?? false
  const name = url.origin + url.pathname
  const location = await pinHost({ url, name, tlsInsecure }, context)
  return createStream(url, location, { username, password, token, tlsInsecure })
}

/** Settings of the requests to a server. */
interface RequestSettings {
  /** Empty without a password. */
  username: string
  password: string
  token: string | undefined
  tlsInsecure: boolean
}

function createStream(url: URL, location: URL, settings: RequestSettings): HttpStream {
  const { username, password, token, tlsInsecure } = settings
  return {
    name: url.origin + url.pathname,
    url,
    location,
    credentials: getCredentialKind(settings),
    tlsInsecure,

    configure(pipeline, { isLive }) {
      const set = (property: string, value: string | number | boolean) =>
        pipeline.set('origin', property, value)
      set('location', location.href)
      set('is-live', isLive)
      set('do-timestamp', isLive)
      set('retries', 0)
      set('iradio-mode', false)
      set('user-agent', 'Eyrie')
      set('ssl-strict', !tlsInsecure)
      // A redirect may lead to a server that the camera can't reach, but this machine can.
      set('automatic-redirect', false)

      if (username) set('user-id', username)
      if (password) set('user-pw', password)
      set('extra-headers', createHeaders({ host: url.host, token }))
    },

    redirect(target) {
      const targetUrl = URL.parse(target, url.href)
      const isSameServer = targetUrl?.protocol === url.protocol && targetUrl.host === url.host
      if (!isSameServer) return undefined

      targetUrl.username = ''
      targetUrl.password = ''
      const targetLocation = new URL(targetUrl)
      targetLocation.hostname = location.hostname
      return createStream(targetUrl, targetLocation, settings)
    },
  }
}

/** A token takes precedence over a password. */
function getCredentialKind({ token, username }: RequestSettings): HttpStream['credentials'] {
  if (token) return 'token'
  return username ? 'password' : 'none'
}

/**
 * Returns the headers as a serialized GStreamer structure, in which quotes and
 * backslashes are escaped.
 */
function createHeaders({ host, token }: { host: string; token: string | undefined }): string {
  const quote = (text: string) => `(string)"${text.replace(/["\\]/g, '\\$&')}"`
  const authorization = token ? `,Authorization=${quote(`Bearer ${token}`)}` : ''
  return `headers,Host=${quote(host)}${authorization}`
}
