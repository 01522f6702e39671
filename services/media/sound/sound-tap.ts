import { AUXILIARY, errorGuard } from '../gstreamer/auxiliary-elements.ts'
import type { Caps, Pipeline, SampleOptions } from '../node-gst/index.ts'
import { ENCODER_SAMPLE_RATE, isAac, type SoundCodec } from './sound-codecs.ts'
import type { SoundUnit } from './sound-track.ts'

export interface SoundListener<Track> {
  begin(track: Track): void
  unit(unit: SoundUnit): void
}

/** Measures and corrects the A/V offset of a source. */
export interface LipSync {
  /** Must be called for each sound packet with its stream time. */
  recordArrival(depayloader: string, pts: number): void
  /** Correction to add to the stream time of sound, in 90 kHz ticks. May change at any time. */
  offsetTicks(): number
}

/** Where the sound of a pipeline is available, and in which format. */
export interface SoundOrigin {
  pipeline: Pipeline
  tee: string
  caps: Caps
  /** For RTP: the name of the depayloader. */
  depayloader: string
  /** Undefined if sound and pictures of the source have reliable common timestamps. */
  lipSync: LipSync | undefined
  /** A live source never waits. The reading of a file does. */
  live: boolean
}

/** A branch that provides the sound of a pipeline in one codec. */
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
 * A file waits for the reader, and its pictures must wait as well: if they ran ahead too far, consumers of both would conclude that
 * the sound has stopped. Hence the short queue.
 */
const FILE_SAMPLES: SampleOptions = { queue: 8, full: 'block' }
/** Sound that may wait for decoder and encoder. */
const MAX_QUEUE_NS = 1_000_000_000

const findDecoder = (caps: Caps) => (isAac(caps) ? 'avdec_aac' : DECODERS[caps.name])

/** Common prefix of the names of a codec's elements. */
export const toElementPrefix = ({ name }: Pick<SoundCodec<unknown>, 'name'>) => `${AUXILIARY}sound-${name}`

/** Adds the branch to the pipeline. Returns undefined if there is no decoder for this sound. */
export function openTap<Track>(
  origin: SoundOrigin,
  codec: SoundCodec<Track>,
  listener: SoundListener<Track>,
): SoundTap | undefined {
  const { pipeline, tee, caps, depayloader, lipSync, live } = origin
  const isTranscoded = !codec.matches(caps)
  const decoder = isTranscoded ? findDecoder(caps) : undefined
  if (isTranscoded && !decoder) return undefined
  const prefix = toElementPrefix(codec)
  const branch = pipeline.add(createLaunch(origin, codec, decoder), tee)
  let newestPts = Number.NEGATIVE_INFINITY

  const arrivals =
    lipSync &&
    pipeline.samples(`${prefix}-arrivals`, LIVE_SAMPLES, sample => {
      if (sample.pts !== null) lipSync.recordArrival(depayloader, sample.pts)
      sample.release()
    })
  const units = pipeline.samples(`${prefix}-units`, live ? LIVE_SAMPLES : FILE_SAMPLES, sample => {
    const track = sample.caps && codec.parseTrack(sample.caps)
    if (track) listener.begin(track)
    const pts = (codec.toStreamTime(sample, isTranscoded) ?? Number.NaN) + (lipSync?.offsetTicks() ?? 0)
    // After a correction to an earlier time, sound that would overlap is dropped.
    if (pts >= 0 && pts > newestPts) {
      newestPts = pts
      listener.unit({ pts, duration: sample.duration ?? 0, data: Uint8Array.from(sample.data) })
    }
    sample.release()
  })
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

function createLaunch<Track>(
  { lipSync, live }: SoundOrigin,
  codec: SoundCodec<Track>,
  decoder: string | undefined,
): string {
  const prefix = toElementPrefix(codec)
  const leaky = live ? 'downstream' : 'no'
  const elements = [
    errorGuard(`sound-${codec.name}`),
    `queue name=${prefix}-queue leaky=${leaky} max-size-buffers=0 max-size-bytes=0 max-size-time=${MAX_QUEUE_NS}`,
  ]
  if (lipSync) {
    const tee = `${prefix}-tee`
    elements.push(`tee name=${tee}`, `appsink name=${prefix}-arrivals sync=false async=false ${tee}.`)
  }
  if (decoder) {
    const [encoder, ...more] = codec.encoder
    elements.push(
      `${decoder} name=${prefix}-decoder`,
      `audioconvert name=${prefix}-convert`,
      `audioresample name=${prefix}-resample`,
      `audio/x-raw,rate=${ENCODER_SAMPLE_RATE},channels=[1,2]`,
      `${encoder} name=${prefix}-encoder`,
      ...more.map((element, i) => (element.includes('/') ? element : `${element} name=${prefix}-${i}`)),
    )
  }
  elements.push(`appsink name=${prefix}-units sync=false async=false`)
  return elements.join(' ! ')
}
