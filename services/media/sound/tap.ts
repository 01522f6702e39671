import { BESIDE, guard } from '../decode/beside.ts'
import type { Branch, Caps, Pipeline, SampleStream } from '../node-gst/index.ts'
import { type Coding, isAac, RATE } from './coding.ts'
import type { SoundUnit } from './track.ts'

export interface SoundListener<Track> {
  begin(track: Track): void
  unit(unit: SoundUnit): void
}

/** Where a pipeline's sound can be taken, and what it is. */
export interface Found {
  pipeline: Pipeline
  tee: string
  caps: Caps
}

/** Takes the sound from a pipeline, in one coding. */
export interface Tap {
  remove(): Promise<void>
  /** The pipeline goes, and its branch with it. */
  part(): void
}

const DECODERS: Record<string, string> = {
  'audio/x-alaw': 'alawdec',
  'audio/x-mulaw': 'mulawdec',
  'audio/x-opus': 'opusdec',
  'audio/mpeg': 'avdec_mp3',
  'audio/x-raw': 'identity',
}

const decoderOf = (caps: Caps) => (isAac(caps) ? 'avdec_aac' : DECODERS[caps.name])

/** What the names of a coding's elements begin with. */
export const nameOf = ({ name }: Pick<Coding<unknown>, 'name'>) => `${BESIDE}sound-${name}`

/** Undefined where nothing decodes this sound. What has the coding already is handed on as it came. */
export function openTap<Track>(
  { pipeline, tee, caps }: Found,
  coding: Coding<Track>,
  listener: SoundListener<Track>,
): Tap | undefined {
  const encoded = !coding.has(caps)
  const decoder = decoderOf(caps)
  if (encoded && !decoder) return undefined
  const name = nameOf(coding)
  const branch: Branch = pipeline.add(launch(coding, encoded ? decoder : undefined), tee)
  const samples: SampleStream = pipeline.samples(
    `${name}-units`,
    { queue: 64, full: 'drop-oldest' },
    sample => {
      const track = sample.caps && coding.track(sample.caps)
      if (track) listener.begin(track)
      const pts = coding.heardAt(sample, encoded)
      if (pts !== undefined && pts >= 0)
        listener.unit({ pts, duration: sample.duration ?? 0, data: Uint8Array.from(sample.data) })
      sample.release()
    },
  )
  branch.start().catch(() => {})
  return {
    async remove() {
      samples.close()
      await branch.remove()
    },
    part: samples.close,
  }
}

function launch<Track>(coding: Coding<Track>, decoder: string | undefined): string {
  const name = nameOf(coding)
  const [encoder, ...more] = coding.encoder
  const named = more.map((element, i) => (element.includes('/') ? element : `${element} name=${name}-${i}`))
  const encoding = decoder
    ? [
        `${decoder} name=${name}-decoder`,
        `audioconvert name=${name}-convert`,
        `audioresample name=${name}-resample`,
        `audio/x-raw,rate=${RATE},channels=[1,2]`,
        `${encoder} name=${name}-encoder`,
        ...named,
      ]
    : []
  return [
    guard(`sound-${coding.name}`),
    `queue name=${name}-queue leaky=downstream max-size-buffers=0 max-size-bytes=0 max-size-time=1000000000`,
    ...encoding,
    `appsink name=${name}-units sync=false async=false`,
  ].join(' ! ')
}
