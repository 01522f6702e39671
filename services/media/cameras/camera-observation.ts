import type { CameraReport } from '@eyrie/contract/camera'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { displaySize, parsePicture } from '../gstreamer/picture.ts'
import { ANY_VIDEO, isLinkFailure } from '../gstreamer/video-caps.ts'
import type { Origin } from '../ingest/origin/origin.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { readReception } from '../ingest/timing/rtp-statistics.ts'
import { createWallClockAnchor } from '../ingest/timing/wall-clock-anchor.ts'
import { type Caps, type GstError, isGstError, type Message, Pipeline } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'

/** The properties of a camera that its video reveals. */
export type CameraObservation = Omit<CameraReport, 'kind' | 'url' | 'device' | 'streams'>

export interface ObservationOptions {
  /** When the test began: monotonic time in ms. */
  startedAt: number
  /** Time limit of the whole test. */
  limitMs: number
  clock: Clock
  signal: AbortSignal
}

interface Packet {
  /** In 90 kHz ticks. */
  pts: number
  bytes: number
  keyframe: boolean
}

/** Maximum time after the first picture to wait for a second keyframe and the first RTCP report. */
const MAX_OBSERVATION_MS = 5_500
/** Minimum time after the first picture, for the frame and bit rates. */
const MIN_OBSERVATION_MS = 1_000
const CHECK_INTERVAL_MS = 100
/** Reserved for taking the pipeline down. */
const TEARDOWN_MS = 500
const PICTURE_WIDTH = 640
const MAX_QUEUED_PACKETS = 64

/**
 * Observes a camera until enough is known or the time limit is reached. Throws a `SourceFault` if no picture arrives.
 */
export async function observeCamera(
  origin: Origin,
  { startedAt, limitMs, clock, signal }: ObservationOptions,
): Promise<CameraObservation> {
  const failed = Promise.withResolvers<never>()
  const pipeline = new Pipeline(buildLaunch(origin), onMessage)
  const packets: Packet[] = []
  let caps: Caps | undefined
  let picture: { jpeg: string; at: number } | undefined
  failed.promise.catch(() => {})

  function onMessage(message: Message) {
    if (message.type === 'eos') return failed.reject(createFault('ended the stream'))
    const isFailure = message.type === 'error' || (message.type === 'warning' && isLinkFailure(message.error))
    if (isFailure && !isSoundFailure(message.error)) failed.reject(message.error)
  }

  function createFault(reason: string): SourceFault {
    return new SourceFault(`${origin.name} ${reason}`, { transient: true })
  }

  function createTimeoutFault(): SourceFault {
    const problem = packets.length > 0 ? 'has sent only video that cannot be decoded' : 'has sent no picture'
    const seconds = Math.round((limitMs - TEARDOWN_MS) / 1000)
    return createFault(`${problem} for ${seconds} s: check the camera and the network to it`)
  }

  const readRtp = () => (origin.rtp ? readReception(pipeline) : undefined)

  try {
    origin.configure(pipeline)
    pipeline.setTimeline({ ptsOffset: 0 })
    const anchor = createWallClockAnchor({ pipeline, origin, ptsOffset: 0, clock })
    pipeline.samples('live', { queue: MAX_QUEUED_PACKETS, full: 'drop-oldest' }, sample => {
      caps = sample.caps ?? caps
      if (sample.pts !== null)
        packets.push({ pts: sample.pts, bytes: sample.data.length, keyframe: sample.keyframe })
      sample.release()
    })
    pipeline.samples('picture', { queue: 1, full: 'drop-newest' }, sample => {
      picture ??= { jpeg: Buffer.from(sample.data).toString('base64'), at: clock.now() }
      sample.release()
    })
    await Promise.race([pipeline.setState('playing'), failed.promise])

    const deadline = startedAt + limitMs - TEARDOWN_MS
    for (;;) {
      await Promise.race([clock.sleep(CHECK_INTERVAL_MS, signal), failed.promise])
      // One picture is enough: the decoder and encoder are idle from here on.
      if (picture) pipeline.set('once', 'drop', true)
      const reception = readRtp()
      if (reception) anchor.addReception(reception)
      const observedMs = picture ? clock.now() - picture.at : 0
      const isComplete = findKeyframes(packets).length > 1 && (!origin.rtp || reception?.report !== undefined)
      if (picture && caps && observedMs > (isComplete ? MIN_OBSERVATION_MS : MAX_OBSERVATION_MS)) break
      if (clock.now() <= deadline) continue
      if (picture && caps) break
      throw createTimeoutFault()
    }

    const parsed = parsePicture(caps)
    if (!parsed) throw createFault('does not specify the size of its picture')
    const reception = readRtp()
    const sound = origin.rtp ? pipeline.caps('sound', 'sink') : null
    return {
      codec: parsed.codec,
      ...(typeof caps.fields.profile === 'string' && { profile: caps.fields.profile }),
      ...displaySize(parsed),
      ...measureRates(packets),
      ...(sound && { audio: describeSound(sound) }),
      ...(reception && { packets_lost: reception.lost / Math.max(1, reception.lost + reception.received) }),
      clock: anchor.cameraClock(),
      first_picture_s: (picture.at - startedAt) / 1000,
      picture: picture.jpeg,
    }
  } catch (error) {
    throw isGstError(error) ? await explain(error, origin) : error
  } finally {
    await pipeline.dispose()
  }
}

/** A camera without sound is no failure. */
const isSoundFailure = ({ debug }: GstError) => /named sound/.test(debug ?? '')

async function explain(error: GstError, origin: Origin): Promise<SourceFault> {
  if (!isLinkFailure(error)) return origin.fault(error)
  return new SourceFault(
    `${origin.name} sends no video that can be displayed: set the camera to H.264 or H.265`,
    { transient: false, cause: error },
  )
}

const findKeyframes = (packets: readonly Packet[]) => packets.filter(({ keyframe }) => keyframe)

/** Measures the rates, since cameras often declare others. */
function measureRates(packets: readonly Packet[]) {
  const times = packets.map(({ pts }) => pts)
  const seconds = (Math.max(...times) - Math.min(...times)) / TICKS_PER_SECOND
  const bytes = packets.reduce((sum, packet) => sum + packet.bytes, 0)
  const keyframeDistanceS = measureKeyframeDistance(findKeyframes(packets))
  return {
    ...(seconds > 0 && { fps: Math.round(((packets.length - 1) / seconds) * 10) / 10 }),
    bitrate_kbps: seconds > 0 ? Math.round((bytes * 8) / seconds / 1000) : 0,
    ...(keyframeDistanceS !== undefined && { keyframe_distance_s: keyframeDistanceS }),
  }
}

/** Returns the mean distance in seconds, rounded to ms; undefined for fewer than two keyframes. */
function measureKeyframeDistance(keyframes: readonly Packet[]): number | undefined {
  const first = keyframes[0]
  const last = keyframes.at(-1)
  if (!first || !last || first === last) return undefined
  const meanTicks = (last.pts - first.pts) / (keyframes.length - 1)
  return Math.round((meanTicks * 1000) / TICKS_PER_SECOND) / 1000
}

function describeSound({ fields }: Caps): NonNullable<CameraObservation['audio']> {
  const rate = fields['clock-rate']
  return {
    codec: String(fields['encoding-name'] ?? 'unknown').toLowerCase(),
    ...(typeof rate === 'number' && { sample_rate: rate }),
  }
}

function buildLaunch(origin: Origin): string {
  const video = `${origin.elements.any} ! capsfilter name=parse caps="${ANY_VIDEO.join(';')}" ! tee name=packets`
  const live = 'packets. ! queue ! appsink name=live sync=false async=false'
  const scaled = `videoscale ! video/x-raw,width=${PICTURE_WIDTH},pixel-aspect-ratio=1/1`
  const picture = `packets. ! queue ! valve name=once ! decodebin ! ${scaled} ! videoconvert ! jpegenc ! appsink name=picture sync=false async=false`
  const sound =
    'origin. ! capsfilter name=sound caps="application/x-rtp,media=audio" ! appsink name=audio sync=false async=false'
  return [video, live, picture, ...(origin.rtp ? [sound] : [])].join(' ')
}
