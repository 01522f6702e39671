import { AUXILIARY, errorGuard } from '../gstreamer/auxiliary-elements.ts'
import type { Branch, Caps, Pipeline, SampleOptions, SampleStream } from '../node-gst/index.ts'
import { ENCODER_SAMPLE_RATE, isAac, type SoundCodec } from './sound-codecs.ts'
import type { SoundUnit } from './sound-track.ts'

export interface SoundListener<Track> {
  begin(track: Track): void
  unit(unit: SoundUnit): void
}

/** Brings sound to the pictures that were taken with it. */
export interface LipSync {
  /** What has this stream time has come from this element, which takes it out of RTP. */
  recordArrival(depayloader: string, pts: number): void
  /** By how much what is heard is to be moved, in 90 kHz ticks. May change at any time. */
  offsetTicks(): number
}

/** Where a pipeline's sound can be taken, and what it is. */
export interface SoundOrigin {
  pipeline: Pipeline
  tee: string
  caps: Caps
  /** What has taken it out of RTP, where it came by that. */
  depayloader: string
  /** Undefined where nothing tells what belongs together but the times that both have. */
  lipSync: LipSync | undefined
  /** It comes whether there is time for it or not; else it is read from a file, which can wait. */
  live: boolean
}

/** Takes the sound from a pipeline, in one coding. */
export interface Tap {
  remove(): Promise<void>
  /** The pipeline goes, and its branch with it. */
  closeSinks(): void
}

const DECODERS: Record<string, string> = {
  'audio/x-alaw': 'alawdec',
  'audio/x-mulaw': 'mulawdec',
  'audio/x-opus': 'opusdec',
  'audio/mpeg': 'avdec_mp3',
  'audio/x-raw': 'identity',
}

/** What may wait for this thread of what comes whether there is time for it or not. */
const LIVE: SampleOptions = { queue: 64, full: 'drop-oldest' }
/**
 * What is read from a file waits, and its picture with it: that one must not get ahead so far that the sound would be taken to
 * have stopped by those who follow both.
 */
const READ: SampleOptions = { queue: 8, full: 'block' }
/** What may wait to be decoded and encoded. */
const QUEUE_NS = 1_000_000_000

const decoderOf = (caps: Caps) => (isAac(caps) ? 'avdec_aac' : DECODERS[caps.name])

/** What the names of a coding's elements begin with. */
export const toElementPrefix = ({ name }: Pick<SoundCodec<unknown>, 'name'>) => `${AUXILIARY}sound-${name}`

/** Undefined where nothing decodes this sound. What has the coding already is handed on as it came. */
export function openTap<Track>(
  found: SoundOrigin,
  coding: SoundCodec<Track>,
  listener: SoundListener<Track>,
): Tap | undefined {
  const { pipeline, tee, caps, lipSync, live } = found
  const encoded = !coding.matches(caps)
  const decoder = decoderOf(caps)
  if (encoded && !decoder) return undefined
  const name = toElementPrefix(coding)
  const branch: Branch = pipeline.add(launch(found, coding, encoded ? decoder : undefined), tee)
  let newestPts = Number.NEGATIVE_INFINITY
  const arrivals = lipSync && hearArrivals(`${name}-arrivals`, lipSync, found)
  const units: SampleStream = pipeline.samples(`${name}-units`, live ? LIVE : READ, sample => {
    const track = sample.caps && coding.parseTrack(sample.caps)
    if (track) listener.begin(track)
    const pts = (coding.toStreamTime(sample, encoded) ?? Number.NaN) + (lipSync?.offsetTicks() ?? 0)
    // What is moved to an earlier time may have to go where something is already.
    if (pts >= 0 && pts > newestPts) {
      newestPts = pts
      listener.unit({ pts, duration: sample.duration ?? 0, data: Uint8Array.from(sample.data) })
    }
    sample.release()
  })
  branch.start().catch(() => {})
  const part = () => {
    arrivals?.close()
    units.close()
  }
  return {
    async remove() {
      part()
      await branch.remove()
    },
    closeSinks: part,
  }
}

function hearArrivals(sink: string, lipSync: LipSync, { pipeline, depayloader }: SoundOrigin): SampleStream {
  return pipeline.samples(sink, LIVE, sample => {
    if (sample.pts !== null) lipSync.recordArrival(depayloader, sample.pts)
    sample.release()
  })
}

function launch<Track>(
  { lipSync, live }: SoundOrigin,
  coding: SoundCodec<Track>,
  decoder: string | undefined,
): string {
  const name = toElementPrefix(coding)
  const leaky = live ? 'downstream' : 'no'
  const [encoder, ...more] = coding.encoder
  const named = more.map((element, i) => (element.includes('/') ? element : `${element} name=${name}-${i}`))
  const encoding = decoder
    ? [
        `${decoder} name=${name}-decoder`,
        `audioconvert name=${name}-convert`,
        `audioresample name=${name}-resample`,
        `audio/x-raw,rate=${ENCODER_SAMPLE_RATE},channels=[1,2]`,
        `${encoder} name=${name}-encoder`,
        ...named,
      ]
    : []
  const tee = `${name}-tee`
  return [
    errorGuard(`sound-${coding.name}`),
    `queue name=${name}-queue leaky=${leaky} max-size-buffers=0 max-size-bytes=0 max-size-time=${QUEUE_NS}`,
    ...(lipSync ? [`tee name=${tee}`, `appsink name=${name}-arrivals sync=false async=false ${tee}.`] : []),
    ...encoding,
    `appsink name=${name}-units sync=false async=false`,
  ].join(' ! ')
}
