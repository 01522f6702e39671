import type { CameraReport } from '@eyrie/contract/camera'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { displaySize, parsePicture } from '../gstreamer/picture.ts'
import { ANY_VIDEO, isLinkFailure } from '../gstreamer/video-caps.ts'
import type { Origin } from '../ingest/origin/origin.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { type Reception, readReception } from '../ingest/timing/rtp-statistics.ts'
import { createWallClockAnchor } from '../ingest/timing/wall-clock-anchor.ts'
import { type Caps, type GstError, isGstError, type Message, Pipeline } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import { createMonotonicPts } from '../webrtc/feeds/monotonic-pts.ts'

/** The properties of a camera that the camera test measures in its video. */
export type CameraObservation = Omit<CameraReport, 'kind' | 'url' | 'device' | 'streams'>

export interface ObservationOptions {
  /** Start of the whole test: monotonic time in ms. */
  startedAt: number
  /** Time limit of the whole test. */
  limitMs: number
  clock: Clock
  signal: AbortSignal
}

/** A piece of coded video from the camera, such as one picture. */
interface Packet {
  /** Presentation time in 90 kHz ticks. */
  pts: number
  byteCount: number
  isKeyframe: boolean
}

/**
 * The data received from a camera so far. `caps` is the GStreamer description of the video format.
 */
interface ReceivedData {
  packets: Packet[]
  caps?: Caps
  /** The first picture as base64, and the monotonic time of its arrival in ms. */
  picture?: { jpeg: string; arrivedAt: number }
}

/** Maximum time after the first picture to wait for a second keyframe and the first RTCP report. */
const MAX_OBSERVATION_MS = 5_500
/** Minimum time after the first picture, for the frame and bit rates. */
const MIN_OBSERVATION_MS = 1_000
const CHECK_INTERVAL_MS = 100
/** Reserved for disposing of the pipeline. */
const TEARDOWN_MS = 500
const PICTURE_WIDTH = 640
const MAX_QUEUED_PACKETS = 64
/** Names of RTP payload formats that differ from the name of their codec. */
const SOUND_CODECS: Record<string, string> = { 'mpeg4-generic': 'aac', 'mp4a-latm': 'aac' }

/**
 * Plays a camera until its properties are known or the time limit is reached. Throws a
 * `SourceFault` if no picture arrives.
 */
export async function observeCamera(
  origin: Origin,
  { startedAt, limitMs, clock, signal }: ObservationOptions,
): Promise<CameraObservation> {
  const failure = Promise.withResolvers<never>()
  // Prevents an unhandled rejection if the pipeline fails while the promise is not awaited.
  failure.promise.catch(() => {})

  const pipeline = new Pipeline(createLaunch(origin), message => {
    const error = findError(message, origin)
    if (error) failure.reject(error)
  })
  const received: ReceivedData = { packets: [] }
  const deadline = startedAt + limitMs - TEARDOWN_MS
  const readRtp = () => (origin.usesRtp ? readReception(pipeline) : undefined)

  try {
    origin.configure(pipeline)
    pipeline.setTimeline({ ptsOffset: 0 })
    // Measures the camera's clock.
    const anchor = createWallClockAnchor({ pipeline, origin, clock })
    collectSamples(pipeline, received, clock)
    // Not awaited, so that the time limit also applies to a connection that hangs.
    pipeline.setState('playing').catch(failure.reject)

    let isFinished = false
    while (!isFinished) {
      await Promise.race([clock.sleep(CHECK_INTERVAL_MS, signal), failure.promise])
      // One picture is enough. Without further pictures, the decoder and the encoder are idle.
      if (received.picture) pipeline.set('once', 'drop', true)

      const reception = readRtp()
      if (reception) anchor.addReception(reception)
      const needsReport = Boolean(origin.usesRtp) && reception?.report === undefined
      isFinished = isSufficient(received, needsReport, clock.now()) || clock.now() > deadline
    }

    const { caps, picture, packets } = received
    if (!picture || !caps) throw createTimeoutFault(origin, packets.length > 0, limitMs)

    const soundCaps = origin.usesRtp ? pipeline.caps('sound', 'sink') : null
    const reception = readRtp()
    return {
      ...describeVideo(caps, packets, origin),
      ...(soundCaps && { audio: describeSound(soundCaps) }),
      ...(reception && { packets_lost: calculateLostShare(reception) }),
      clock: anchor.cameraClock(),
      first_picture_s: (picture.arrivedAt - startedAt) / 1000,
      picture: picture.jpeg,
    }
  } catch (error) {
    if (isGstError(error)) throw await toSourceFault(error, origin)
    throw error
  } finally {
    await pipeline.dispose()
  }
}

/** Returns the error that ends the observation, if the message reports one. */
function findError(message: Message, origin: Origin): Error | GstError | undefined {
  if (message.type === 'eos') return createFault(origin, 'ended the stream')
  if (message.type !== 'error' && message.type !== 'warning') return undefined

  const { error } = message
  const isHarmlessWarning = message.type === 'warning' && !isLinkFailure(error)
  if (isHarmlessWarning) return undefined
  return isSoundFailure(error) ? undefined : error
}

/** Collects the packets of the camera and its first picture. */
function collectSamples(pipeline: Pipeline, received: ReceivedData, clock: Clock): void {
  pipeline.samples('live', { queue: MAX_QUEUED_PACKETS, full: 'drop-oldest' }, sample => {
    if (sample.caps) received.caps = sample.caps
    const { pts, data, keyframe } = sample
    if (pts !== null) received.packets.push({ pts, byteCount: data.length, isKeyframe: keyframe })
    sample.release()
  })

  pipeline.samples('picture', { queue: 1, full: 'drop-newest' }, sample => {
    received.picture ??= {
      jpeg: Buffer.from(sample.data).toString('base64'),
      arrivedAt: clock.now(),
    }
    sample.release()
  })
}

/**
 * Whether enough is known about the camera. A second keyframe and an RTCP report are worth
 * a longer observation.
 */
function isSufficient(
  { packets, caps, picture }: ReceivedData,
  needsReport: boolean,
  now: number,
): boolean {
  if (!picture || !caps) return false
  const isComplete = !needsReport && findKeyframes(packets).length > 1
  const requiredMs = isComplete ? MIN_OBSERVATION_MS : MAX_OBSERVATION_MS
  return now - picture.arrivedAt > requiredMs
}

function createFault(origin: Origin, reason: string): SourceFault {
  return new SourceFault(`${origin.name} ${reason}`, { transient: true })
}

function createTimeoutFault(origin: Origin, hasPackets: boolean, limitMs: number): SourceFault {
  const problem = hasPackets ? 'has sent only video that cannot be decoded' : 'has sent no picture'
  const seconds = Math.round((limitMs - TEARDOWN_MS) / 1000)
  return createFault(origin, `${problem} for ${seconds} s: check the camera and the network to it`)
}

/** Whether an error only means that the camera has no sound. */
const isSoundFailure = ({ debug }: GstError) => /named sound/.test(debug ?? '')

/** Converts a pipeline error to an error with advice for the user. */
async function toSourceFault(error: GstError, origin: Origin): Promise<SourceFault> {
  if (!isLinkFailure(error)) return origin.explainError(error)
  return new SourceFault(
    `${origin.name} sends no video that can be displayed: set its video codec to H.264 or H.265`,
    { transient: false, cause: error },
  )
}

/** Describes the format and the rates of the video. */
function describeVideo(caps: Caps, packets: readonly Packet[], origin: Origin) {
  const format = parsePicture(caps)
  if (!format) throw createFault(origin, 'does not specify the size of its picture')

  const { profile } = caps.fields
  return {
    codec: format.codec,
    ...(typeof profile === 'string' && { profile }),
    ...displaySize(format),
    ...measureRates(packets),
    ...(format.codec === 'h264' && { b_frames: hasBFrames(packets) }),
  }
}

const findKeyframes = (packets: readonly Packet[]) => packets.filter(({ isKeyframe }) => isKeyframe)

/** Measures the frame and bit rates. The rates that cameras declare are often wrong. */
function measureRates(packets: readonly Packet[]) {
  const times = packets.map(({ pts }) => pts)
  const durationS = (Math.max(...times) - Math.min(...times)) / TICKS_PER_SECOND
  const byteCount = packets.reduce((sum, packet) => sum + packet.byteCount, 0)
  const keyframeDistanceS = measureKeyframeDistance(findKeyframes(packets))

  return {
    ...(durationS > 0 && { fps: Math.round(((packets.length - 1) / durationS) * 10) / 10 }),
    bitrate_kbps: durationS > 0 ? Math.round((byteCount * 8) / durationS / 1000) : 0,
    ...(keyframeDistanceS !== undefined && { keyframe_distance_s: keyframeDistanceS }),
  }
}

/**
 * Returns the mean time between keyframes in seconds, rounded to ms; undefined for
 * fewer than two keyframes.
 */
function measureKeyframeDistance(keyframes: readonly Packet[]): number | undefined {
  const first = keyframes[0]
  const last = keyframes.at(-1)
  if (!first || !last || first === last) return undefined
  const meanTicks = (last.pts - first.pts) / (keyframes.length - 1)
  return Math.round((meanTicks * 1000) / TICKS_PER_SECOND) / 1000
}

/** Returns the share of RTP packets that were lost, 0 to 1. */
function calculateLostShare({ lost, received }: Reception): number {
  return lost / Math.max(1, lost + received)
}

/** Whether the packets, which are in decoding order, are displayed in another order. */
function hasBFrames(packets: readonly Packet[]): boolean {
  const monotonic = createMonotonicPts()
  return packets.some(({ pts }) => monotonic.next(pts) === undefined)
}

function describeSound({ fields }: Caps): NonNullable<CameraObservation['audio']> {
  const rate = fields['clock-rate']
  const encoding = String(fields['encoding-name'] ?? 'unknown').toLowerCase()
  return {
    codec: SOUND_CODECS[encoding] ?? encoding,
    ...(typeof rate === 'number' && { sample_rate: rate }),
  }
}

/**
 * Returns the launch string of the test pipeline: packets to `live`, one decoded picture to
 * `picture`, and for RTP the sound to `audio`.
 */
function createLaunch(origin: Origin): string {
  const video = `${origin.elements.any} ! capsfilter name=parse caps="${ANY_VIDEO.join(';')}" ! tee name=packets`
  const sink = (name: string) => `appsink name=${name} sync=false async=false`
  const live = `packets. ! queue ! ${sink('live')}`
  const scaled = `videoscale ! video/x-raw,width=${PICTURE_WIDTH},pixel-aspect-ratio=1/1`
  const encoded = `decodebin ! ${scaled} ! videoconvert ! jpegenc`
  const picture = `packets. ! queue ! valve name=once ! ${encoded} ! ${sink('picture')}`
  if (!origin.usesRtp) return [video, live, picture].join(' ')

  const soundCaps = 'application/x-rtp,media=audio'
  const sound = `origin. ! capsfilter name=sound caps="${soundCaps}" ! ${sink('audio')}`
  return [video, live, picture, sound].join(' ')
}
