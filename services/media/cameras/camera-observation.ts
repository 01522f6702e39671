import type { CameraReport } from '@eyrie/contract/camera'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { displaySize, parsePicture } from '../gstreamer/picture.ts'
import { ANY_VIDEO, isLinkFailure } from '../gstreamer/video-caps.ts'
import type { Origin } from '../ingest/origin/origin.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { createAbsoluteTime } from '../ingest/timing/absolute-time.ts'
import { readReception } from '../ingest/timing/rtp-statistics.ts'
import { type Caps, isGstError, type Message, Pipeline, type Sample } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'

/** What can be told of a camera by looking at what it sends. */
export type Observation = Omit<CameraReport, 'kind' | 'url' | 'device' | 'streams'>

export interface ObservationOptions {
  /** When the test began, by the clock's `now`. */
  begun: number
  /** From then on. */
  limitMs: number
  clock: Clock
  signal: AbortSignal
}

/** After the first picture; a second keyframe, and RTCP's first report, may take that long. */
const LOOK_MS = 5_500
/** What is over earlier has still been looked at so long. */
const LEAST_MS = 1_000
const CHECK_MS = 100
/** Left for taking everything down. */
const SPARE_MS = 500
const PICTURE_WIDTH = 640
const PACKETS_HELD = 64

/** Watches until enough is known, or time is over. Throws a Fault where there is no picture. */
export async function observe(
  origin: Origin,
  { begun, limitMs, clock, signal }: ObservationOptions,
): Promise<Observation> {
  const failed = Promise.withResolvers<never>()
  const pipeline = new Pipeline(launchFor(origin), message => fail(message))
  const packets: { pts: number; bytes: number; keyframe: boolean }[] = []
  let caps: Caps | undefined
  let picture: { jpeg: string; at: number } | undefined
  failed.promise.catch(() => {})

  function fail(message: Message) {
    const isWrong = message.type === 'error' || (message.type === 'warning' && isLinkFailure(message.error))
    if (message.type === 'eos') return failed.reject(fault('has ended the stream'))
    if (!isWrong || /named sound/.test(message.error.debug ?? '')) return
    failed.reject(message.error)
  }

  const fault = (reason: string) => new SourceFault(`${origin.name} ${reason}`, { transient: true })

  try {
    origin.configure(pipeline)
    pipeline.setTimeline({ ptsOffset: 0 })
    const time = createAbsoluteTime({ pipeline, origin, ptsOffset: 0, clock })
    pipeline.samples('live', { queue: PACKETS_HELD, full: 'drop-oldest' }, (sample: Sample) => {
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

    const deadline = begun + limitMs - SPARE_MS
    for (;;) {
      await Promise.race([clock.sleep(CHECK_MS, signal), failed.promise])
      // Where a picture came, the elements that only make JPEG of it have done their work.
      if (picture) pipeline.set('once', 'drop', true)
      const reception = origin.rtp ? readReception(pipeline) : undefined
      if (reception) time.received(reception)
      const lookedMs = picture ? clock.now() - picture.at : 0
      const known = keyframesIn(packets).length > 1 && (!origin.rtp || reception?.report !== undefined)
      if (picture && caps && lookedMs > (known ? LEAST_MS : LOOK_MS)) break
      if (clock.now() > deadline) {
        if (picture && caps) break
        const came = packets.length > 0 ? 'sends video that cannot be decoded' : 'has sent no picture'
        throw fault(
          `${came} for ${Math.round((limitMs - SPARE_MS) / 1000)} s: check the camera and the network to it`,
        )
      }
    }
    const shown = parsePicture(caps)
    if (!shown) throw fault('does not say how large its picture is')
    const reception = origin.rtp ? readReception(pipeline) : undefined
    const sound = origin.rtp ? pipeline.caps('sound', 'sink') : null
    return {
      codec: shown.codec,
      ...(typeof caps.fields.profile === 'string' && { profile: caps.fields.profile }),
      ...displaySize(shown),
      ...ratesOf(packets),
      ...(sound && { audio: audioOf(sound) }),
      ...(reception && { packets_lost: reception.lost / Math.max(1, reception.lost + reception.received) }),
      clock: time.clock(),
      first_picture_s: (picture.at - begun) / 1000,
      picture: picture.jpeg,
    }
  } catch (error) {
    throw isGstError(error) ? await explain(error, origin) : error
  } finally {
    await pipeline.dispose()
  }
}

async function explain(error: Parameters<Origin['fault']>[0], origin: Origin): Promise<SourceFault> {
  if (!isLinkFailure(error)) return origin.fault(error)
  return new SourceFault(
    `${origin.name} sends no video that can be shown: set the camera to H.264 or H.265`,
    {
      transient: false,
      cause: error,
    },
  )
}

const keyframesIn = (packets: readonly { keyframe: boolean; pts: number }[]) =>
  packets.filter(({ keyframe }) => keyframe)

/** Measured, since cameras often say something else. Times in 90 kHz ticks. */
function ratesOf(packets: readonly { pts: number; bytes: number; keyframe: boolean }[]) {
  const times = packets.map(({ pts }) => pts)
  const seconds = (Math.max(...times) - Math.min(...times)) / TICKS_PER_SECOND
  const keyframes = keyframesIn(packets)
  const [first, last] = [keyframes[0], keyframes.at(-1)]
  const bytes = packets.reduce((sum, packet) => sum + packet.bytes, 0)
  return {
    ...(seconds > 0 && { fps: Math.round(((packets.length - 1) / seconds) * 10) / 10 }),
    bitrate_kbps: seconds > 0 ? Math.round((bytes * 8) / seconds / 1000) : 0,
    ...(first &&
      last &&
      first !== last && {
        keyframe_distance_s: Math.round((last.pts - first.pts) / 90 / (keyframes.length - 1)) / 1000,
      }),
  }
}

function audioOf({ fields }: Caps): NonNullable<Observation['audio']> {
  const rate = fields['clock-rate']
  return {
    codec: String(fields['encoding-name'] ?? 'unknown').toLowerCase(),
    ...(typeof rate === 'number' && { sample_rate: rate }),
  }
}

function launchFor(origin: Origin): string {
  const video = `${origin.elements.any} ! capsfilter name=parse caps="${ANY_VIDEO.join(';')}" ! tee name=packets`
  const live = 'packets. ! queue ! appsink name=live sync=false async=false'
  const scaled = `videoscale ! video/x-raw,width=${PICTURE_WIDTH},pixel-aspect-ratio=1/1`
  const picture = `packets. ! queue ! valve name=once ! decodebin ! ${scaled} ! videoconvert ! jpegenc ! appsink name=picture sync=false async=false`
  const sound =
    'origin. ! capsfilter name=sound caps="application/x-rtp,media=audio" ! appsink name=audio sync=false async=false'
  return [video, live, picture, ...(origin.rtp ? [sound] : [])].join(' ')
}
