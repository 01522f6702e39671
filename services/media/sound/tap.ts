import { BESIDE, guard } from '../decode/beside.ts'
import type { Branch, Caps, Pipeline, SampleStream } from '../node-gst/index.ts'
import { type Coding, isAac, RATE } from './coding.ts'
import type { LipSync } from './lip-sync.ts'
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
  /** What has taken it out of RTP, where it came by that. */
  depayloader: string
  lipSync: LipSync
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
  { pipeline, tee, caps, depayloader, lipSync }: Found,
  coding: Coding<Track>,
  listener: SoundListener<Track>,
): Tap | undefined {
  const encoded = !coding.has(caps)
  const decoder = decoderOf(caps)
  if (encoded && !decoder) return undefined
  const name = nameOf(coding)
  const branch: Branch = pipeline.add(launch(coding, encoded ? decoder : undefined), tee)
  let newestPts = Number.NEGATIVE_INFINITY
  const arrivals = pipeline.samples(`${name}-arrivals`, { queue: 64, full: 'drop-oldest' }, sample => {
    if (sample.pts !== null) lipSync.heard(depayloader, sample.pts)
    sample.release()
  })
  const units: SampleStream = pipeline.samples(
    `${name}-units`,
    { queue: 64, full: 'drop-oldest' },
    sample => {
      const track = sample.caps && coding.track(sample.caps)
      if (track) listener.begin(track)
      const pts = (coding.heardAt(sample, encoded) ?? Number.NaN) + lipSync.shift()
      // What is moved to an earlier time may have to go where something is already.
      if (pts >= 0 && pts > newestPts) {
        newestPts = pts
        listener.unit({ pts, duration: sample.duration ?? 0, data: Uint8Array.from(sample.data) })
      }
      sample.release()
    },
  )
  branch.start().catch(() => {})
  const part = () => {
    arrivals.close()
    units.close()
  }
  return {
    async remove() {
      part()
      await branch.remove()
    },
    part,
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
  const arriving = [
    guard(`sound-${coding.name}`),
    `queue name=${name}-queue leaky=downstream max-size-buffers=0 max-size-bytes=0 max-size-time=1000000000`,
    `tee name=${name}-tee`,
    `appsink name=${name}-arrivals sync=false async=false`,
  ]
  const coded = [`${name}-tee.`, ...encoding, `appsink name=${name}-units sync=false async=false`]
  return `${arriving.join(' ! ')} ${coded.join(' ! ')}`
}
