import type { AddressObject } from '@eyrie/contract'
import { createRtpSoundElements } from '../../sound/sound-elements.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { extractCredentials, stripCredentials } from '../origin/url-credentials.ts'
import { DEPAYLOADER } from '../timing/rtp-statistics.ts'
import { createRtspFault } from './rtsp-fault.ts'

const LATENCY_MS = 200
const SILENCE_MS = 5_000
/** With transport `auto`: how long UDP may stay silent before TCP is tried. */
const UDP_TRIAL_MS = 2_000
/**
 * Disables the lip sync of `rtspsrc`, which shifts the timestamps of video back and forth: sound is aligned with video instead.
 * The value is the maximum shift in ns.
 */
const RTSPSRC = 'rtspsrc name=origin max-ts-offset=1'
const PROTOCOLS = { auto: 'tcp+udp', tcp: 'tcp', udp: 'udp' } as const

/**
 * Opens an RTSP camera. The user name and password may be in the URL or in separate fields, and appear neither in names nor in
 * launch strings.
 */
export function openRtsp(address: AddressObject, signal: AbortSignal): Origin {
  const url = parseRtspUrl(address.url)
  const { username, password } = extractCredentials(url, address)
  const name = stripCredentials(url.href)

  return {
    name,
    elements: {
      h264: `${RTSPSRC} ! rtph264depay name=${DEPAYLOADER}`,
      h265: `${RTSPSRC} ! rtph265depay name=${DEPAYLOADER}`,
      any: 'rtspsrc name=origin ! application/x-rtp,media=video ! parsebin',
    },
    sound: createRtpSoundElements('origin'),
    configure(pipeline) {
      pipeline.set('origin', 'location', url.href)
      pipeline.set('origin', 'protocols', PROTOCOLS[address.transport ?? 'auto'])
      pipeline.set('origin', 'latency', address.latency_ms ?? LATENCY_MS)
      pipeline.set('origin', 'timeout', UDP_TRIAL_MS * 1000)
      pipeline.set('origin', 'tcp-timeout', SILENCE_MS * 1000)
      if (username) pipeline.set('origin', 'user-id', username)
      if (password) pipeline.set('origin', 'user-pw', password)
      if (address.tls_insecure) pipeline.set('origin', 'tls-validation-flags', 0)
    },
    picture: undefined,
    live: true,
    rtp: true,
    silenceMs: SILENCE_MS,
    fault: error => createRtspFault(error, { name, url, address, signal }),
  }
}

function parseRtspUrl(text: string): URL {
  const url = URL.parse(text)
  if (url && ['rtsp:', 'rtsps:'].includes(url.protocol) && url.host) return url
  throw new SourceFault('invalid RTSP address: use rtsp://host/path or rtsps://host/path', {
    transient: false,
  })
}
