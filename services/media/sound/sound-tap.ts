import { AUXILIARY, errorGuard } from '../gstreamer/auxiliary-elements.ts'
import type { Caps, Pipeline, Sample, SampleOptions } from '../node-gst/index.ts'
import { ENCODER_SAMPLE_RATE, isAac, type SoundCodec } from './sound-codecs.ts'
import { nameElement } from './sound-elements.ts'
import type { SoundUnit } from './sound-track.ts'

/** Receives the sound of a source in one codec. */
export interface SoundListener<Track> {
  /** Called with the format of the following units. */
  begin(track: Track): void
  /** Called for each frame of sound. */
  unit(unit: SoundUnit): void
}

/** Measures and corrects the offset between sound and pictures of a source. */
export interface LipSync {
  /** Must be called for each sound packet. `pts` is its stream time. */
  recordArrival(depayloader: string, pts: number): void
  /**
   * Returns the correction to add to the stream time of sound, in 90 kHz ticks. It
   * may change at any time.
   */
  offsetTicks(): number
}

/** The sound in a pipeline: where it can be read, and its format. */
export interface SoundOrigin {
  pipeline: Pipeline
  /** Name of the tee that provides the sound. */
  tee: string
  caps: Caps
  /** Name of the depayloader, for RTP. */
  depayloader: string
  /** Undefined if the timestamps of sound and pictures are already aligned. */
  lipSync: LipSync | undefined
  /** A live source drops sound that is not read in time. A file waits for its readers. */
  isLive: boolean
}

/** A branch of a source's pipeline that provides the sound in one codec. */
export interface SoundTap {
  remove(): Promise<void>
  /** Closes only the sinks. Sufficient before the pipeline is disposed of. */
  closeSinks(): void
}

const DECODERS: Record<string, string> = {
  'audio/x-alaw': 'alawdec',
  'audio/x-mulaw': 'mulawdec',
  'audio/x-opus': 'opusdec',
  'audio/mpeg': 'avdec_mp3',
  'audio/x-raw': 'identity',
}

const LIVE_SAMPLES: SampleOptions = { queue: 64, full: 'drop-oldest' }
/**
 * The queue of a file is short, so that its pictures wait together with its sound. If the pictures
 * were far ahead, consumers of both would conclude that the sound has ended.
 */
const FILE_SAMPLES: SampleOptions = { queue: 8, full: 'block' }
/** Maximum duration of the sound that waits for the decoder and encoder. */
const MAX_QUEUE_NS = 1_000_000_000

const findDecoder = (caps: Caps) => (isAac(caps) ? 'avdec_aac' : DECODERS[caps.name])

/** Returns the common name prefix of the elements that produce a codec. */
export const toElementPrefix = ({ name }: Pick<SoundCodec<unknown>, 'name'>) =>
  `${AUXILIARY}sound-${name}`

/** Adds a tap to a pipeline. Returns undefined if there is no decoder for the sound. */
export function openTap<Track>(
  origin: SoundOrigin,
  codec: SoundCodec<Track>,
  listener: SoundListener<Track>,
): SoundTap | undefined {
  const { pipeline, tee, caps, depayloader, lipSync, isLive } = origin
  const isTranscoded = !codec.matches(caps)
  const decoder = isTranscoded ? findDecoder(caps) : undefined
  if (isTranscoded && !decoder) return undefined

  const prefix = toElementPrefix(codec)
  const branch = pipeline.add(createLaunch(origin, codec, decoder), tee)
  let newestPts = Number.NEGATIVE_INFINITY

  function handleUnit(sample: Sample) {
    const track = sample.caps && codec.parseTrack(sample.caps)
    if (track) listener.begin(track)

    const streamTime = codec.toStreamTime(sample, isTranscoded)
    if (streamTime === undefined) return
    const pts = streamTime + (lipSync?.offsetTicks() ?? 0)

    // When a correction moves sound to an earlier time, overlapping sound is dropped.
    if (pts < 0 || pts <= newestPts) return
    newestPts = pts
    listener.unit({ pts, duration: sample.duration ?? 0, data: Uint8Array.from(sample.data) })
  }

  const arrivals =
    lipSync &&
    pipeline.samples(`${prefix}-arrivals`, LIVE_SAMPLES, sample => {
      if (sample.pts !== null) lipSync.recordArrival(depayloader, sample.pts)
      sample.release()
    })
  const units = pipeline.samples(
    `${prefix}-units`,
    isLive ? LIVE_SAMPLES : FILE_SAMPLES,
    sample => {
      handleUnit(sample)
      sample.release()
    },
  )
  // If the start fails, the pipeline reports the error in a message.
  branch.start().catch(() => {})

  function closeSinks() {
    arrivals?.close()
    units.close()
  }

  return {
    async remove() {
      closeSinks()
      await branch.remove()
    },
    closeSinks,
  }
}

/**
 * Returns the launch string of the branch. The branch transcodes if `decoder` is defined. For lip
 * sync, a second sink receives the packets as they arrive.
 */
function createLaunch<Track>(
  { lipSync, isLive }: SoundOrigin,
  codec: SoundCodec<Track>,
  decoder: string | undefined,
): string {
  const prefix = toElementPrefix(codec)
  const leaky = isLive ? 'downstream' : 'no'

  const elements = [
    errorGuard(`sound-${codec.name}`),
    `queue name=${prefix}-queue leaky=${leaky} max-size-buffers=0 max-size-bytes=0 max-size-time=${MAX_QUEUE_NS}`,
  ]

  if (lipSync) {
    const tee = `${prefix}-tee`
    // The sink ends one branch of the tee. The reference to the tee after it begins the other one.
    elements.push(
      `tee name=${tee}`,
      `appsink name=${prefix}-arrivals sync=false async=false ${tee}.`,
    )
  }

  if (decoder) {
    const [encoder, ...more] = codec.encoder
    elements.push(
      `${decoder} name=${prefix}-decoder`,
      `audioconvert name=${prefix}-convert`,
      `audioresample name=${prefix}-resample`,
      `audio/x-raw,rate=${ENCODER_SAMPLE_RATE},channels=[1,2]`,
      `${encoder} name=${prefix}-encoder`,
      ...more.map((element, position) => nameElement(element, `${prefix}-${position}`)),
    )
  }

  elements.push(`appsink name=${prefix}-units sync=false async=false`)
  return elements.join(' ! ')
}
