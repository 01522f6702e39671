import type { AddressObject } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { extractCredentials } from '../origin/url-credentials.ts'

/** A stream over HTTP, and how to ask for it. */
export interface HttpStream {
  /** Its address without credentials and without parameters, among which they may be, too. */
  name: string
  url: URL
  /** What it is asked with; where it is asked with anything, redirections are not followed: it is meant for one host. */
  credentials: 'token' | 'password' | 'none'
  tlsInsecure: boolean
  /** Sets `souphttpsrc name=origin`. `live`: pictures get the time at which they arrive, where they bring none. */
  configure(pipeline: Pipeline, live: boolean): void
}

/** Parses an HTTP address. Throws a `SourceFault` for any other URL. */
export function parseHttpStream(address: AddressObject): HttpStream {
  const url = URL.parse(address.url)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new SourceFault('the address is none of HTTP: write http://host/path or https://host/path', {
      transient: false,
    })
  const { username, password } = extractCredentials(url, address)
  const { token } = address
  const credentials = token ? 'token' : username ? 'password' : 'none'
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
      if (token)
        set('extra-headers', `headers,Authorization=(string)"Bearer ${token.replace(/["\\]/g, '\\$&')}"`)
    },
  }
}
