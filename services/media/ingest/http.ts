import type { AddressObject } from '@eyrie/contract'
import type { Pipeline } from '../node-gst/index.ts'
import { parsedSound } from '../sound/elements.ts'
import { takeCredentials } from './credentials.ts'
import { Fault } from './fault.ts'
import { brokenOff } from './http-fault.ts'
import { look } from './http-look.ts'
import type { Opening, Origin } from './origin.ts'

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

/** Live pictures come far apart at night or over TS, where a keyframe has to be waited for. */
const SILENCE_MS = 10_000
const SOURCE = 'souphttpsrc name=origin ! parsebin name=demux'

/** A camera's MJPEG, MP4 or MPEG-TS over HTTP, or the live view of another instance. */
export async function openHttp(address: AddressObject, opening: Opening): Promise<Origin> {
  const stream = httpStream(address)
  const { picture, live, timeline } = await look(stream, SILENCE_MS, opening)
  return {
    name: stream.name,
    elements: { h264: SOURCE, any: picture.codec === 'jpeg' ? `${SOURCE} ! image/jpeg ! jpegparse` : SOURCE },
    sound: parsedSound('demux'),
    configure: pipeline => stream.configure(pipeline, live),
    picture,
    live,
    timeline,
    silenceMs: SILENCE_MS,
    fault: error => brokenOff(error, stream),
  }
}

function httpStream(address: AddressObject): HttpStream {
  const url = URL.parse(address.url)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new Fault('the address is none of HTTP: write http://host/path or https://host/path', {
      transient: false,
    })
  const { username, password } = takeCredentials(url, address)
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
