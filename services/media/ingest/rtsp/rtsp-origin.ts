import type { AddressObject } from '@eyrie/contract'
import { createRtpSoundElements } from '../../sound/sound-elements.ts'
import type { OpenContext, Origin } from '../origin/origin.ts'
import { pinHost } from '../origin/reachability.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { extractCredentials, stripCredentials } from '../origin/url-credentials.ts'
import { DEPAYLOADER } from '../timing/rtp-statistics.ts'
import { createRtspFault } from './rtsp-fault.ts'

/** Time for which packets are buffered to compensate for variations of the network delay. */
const LATENCY_MS = 200
/** A camera that sends no packet for this time counts as lost. */
const SILENCE_MS = 5_000
/** Time without packets over UDP after which transport `auto` switches to TCP. */
const UDP_TRIAL_MS = 2_000
/** Name of the GStreamer element that connects to the camera. */
const ORIGIN = 'origin'
const RTSPSRC = `rtspsrc name=${ORIGIN}`
/**
 * `rtspsrc` without its lip sync, which shifts the timestamps of the video back and forth:
 * `max-ts-offset` limits the shifts to 1 ns. Sound is aligned with the video by camera-lip-sync.ts
 * instead.
 */
const RTSPSRC_UNSYNCED = `${RTSPSRC} max-ts-offset=1`
/** Values of the property `protocols` of `rtspsrc`, by the transport of the address. */
const PROTOCOLS = { auto: 'tcp+udp', tcp: 'tcp', udp: 'udp' } as const

/**
 * Opens an RTSP camera. The user name and password may be in the URL or in separate
 * fields of the address.
 */
export async function openRtsp(
  address: AddressObject,
  context: Pick<OpenContext, 'egress' | 'signal'>,
): Promise<Origin> {
  const url = parseRtspUrl(address.url)
  const { username, password } = extractCredentials(url, address)
  const name = stripCredentials(url.href)
  const tlsInsecure = address.tls_insecure ?? false
  const location = await pinHost({ url, name, tlsInsecure }, context)

  return {
    name,
    elements: {
      h264: `${RTSPSRC_UNSYNCED} ! rtph264depay name=${DEPAYLOADER}`,
      h265: `${RTSPSRC_UNSYNCED} ! rtph265depay name=${DEPAYLOADER}`,
      any: `${RTSPSRC} ! application/x-rtp,media=video ! parsebin`,
    },
    sound: createRtpSoundElements(ORIGIN),
    configure(pipeline) {
      const set = (property: string, value: string | number) =>
        pipeline.set(ORIGIN, property, value)
      set('location', location.href)
      set('protocols', PROTOCOLS[address.transport ?? 'auto'])
      set('latency', address.latency_ms ?? LATENCY_MS)
      // `rtspsrc` expects both time limits in µs.
      set('timeout', UDP_TRIAL_MS * 1000)
      set('tcp-timeout', SILENCE_MS * 1000)
      if (username) set('user-id', username)
      if (password) set('user-pw', password)
      if (tlsInsecure) set('tls-validation-flags', 0)
    },
    picture: undefined,
    isLive: true,
    usesRtp: true,
    silenceMs: SILENCE_MS,
    explainError: error =>
      createRtspFault(error, { name, url, address, hasCredentials: username !== '', context }),
  }
}

function parseRtspUrl(text: string): URL {
  const url = URL.parse(text)
  if (url && ['rtsp:', 'rtsps:'].includes(url.protocol) && url.host) return url
  throw new SourceFault('invalid RTSP address: use rtsp://host/path or rtsps://host/path', {
    transient: false,
  })
}
