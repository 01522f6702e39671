import type { AddressObject } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { extractCredentials } from '../origin/url-credentials.ts'

/** The address and request settings of a stream over HTTP. */
export interface HttpStream {
  /** The address without credentials and query parameters. */
  name: string
  url: URL
  /** Kind of credentials in the request. With credentials, redirects are not followed, because they may lead to another host. */
  credentials: 'token' | 'password' | 'none'
  tlsInsecure: boolean
  /** Configures the element `souphttpsrc name=origin`. If `live`, pictures without timestamps are stamped on arrival. */
  configure(pipeline: Pipeline, live: boolean): void
}

/** Parses an HTTP address. Throws a `SourceFault` for any other URL. */
export function parseHttpStream(address: AddressObject): HttpStream {
  const url = URL.parse(address.url)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new SourceFault('invalid HTTP address: use http://host/path or https://host/path', {
      transient: false,
    })

  const { username, password } = extractCredentials(url, address)
  const { token } = address
  const credentials = getKind({ token, username })
  const tlsInsecure = address.tls_insecure ?? false

  return {
    name: url.origin + url.pathname,
    url,
    credentials,
    tlsInsecure,
    configure(pipeline, live) {
      const set = (property: string, value: string | number | boolean) =>
        pipeline.set('origin', property, value)
      set('location', url.href)
      set('is-live', live)
      set('do-timestamp', live)
      set('retries', 0)
      set('iradio-mode', false)
      set('user-agent', 'Eyrie')
      set('ssl-strict', !tlsInsecure)
      set('automatic-redirect', credentials === 'none')

      if (username) set('user-id', username)
      if (password) set('user-pw', password)
      if (token) set('extra-headers', createAuthorizationHeader(token))
    },
  }
}

/** Returns the kind of credentials in an address. A token takes precedence over a password. */
function getKind({ token, username }: Pick<AddressObject, 'token' | 'username'>): HttpStream['credentials'] {
  if (token) return 'token'
  return username ? 'password' : 'none'
}

/** Returns the header as a serialized GStreamer structure, in which quotes and backslashes are escaped. */
function createAuthorizationHeader(token: string): string {
  const escapedToken = token.replace(/["\\]/g, '\\$&')
  return `headers,Authorization=(string)"Bearer ${escapedToken}"`
}
