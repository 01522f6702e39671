import { BESIDE, guard } from '../decode/beside.ts'
import type { Branch, Caps, Pipeline, SampleStream } from '../node-gst/index.ts'
import type { SoundTrack, SoundUnit } from './track.ts'

export interface SoundListener {
  begin(track: SoundTrack): void
  unit(unit: SoundUnit): void
}

/** Takes the sound from a pipeline, in AAC. */
export interface Tap {
  remove(): Promise<void>
  /** The pipeline goes, and its branch with it. */
  part(): void
}

const NAME = `${BESIDE}sound`
const SINK = `${NAME}-units`
const RATE = 48_000
/** Of libavcodec's encoder: what goes in comes out so much later. */
const ENCODER_DELAY_SAMPLES = 1024
const TICKS_PER_SECOND = 90_000

const DECODERS: Record<string, string> = {
  'audio/x-alaw': 'alawdec',
  'audio/x-mulaw': 'mulawdec',
  'audio/x-opus': 'opusdec',
  'audio/mpeg': 'avdec_mp3',
  'audio/x-raw': 'identity',
}

const isAac = ({ name, fields }: Caps) => name === 'audio/mpeg' && fields.mpegversion === 4

/** Undefined where nothing decodes this sound. AAC is handed on as it came. */
export function openTap(
  pipeline: Pipeline,
  { tee, caps }: { tee: string; caps: Caps },
  listener: SoundListener,
): Tap | undefined {
  const decoder = DECODERS[caps.name]
  if (!isAac(caps) && !decoder) return undefined
  const delay = isAac(caps) ? 0 : Math.round((ENCODER_DELAY_SAMPLES * TICKS_PER_SECOND) / RATE)
  const branch: Branch = pipeline.add(launch(isAac(caps) ? undefined : decoder), tee)
  const samples: SampleStream = pipeline.samples(SINK, { queue: 64, full: 'drop-oldest' }, sample => {
    const track = sample.caps && trackOf(sample.caps)
    if (track) listener.begin(track)
    const { pts, duration, data } = sample
    if (pts !== null && pts >= delay)
      listener.unit({ pts: pts - delay, duration: duration ?? 0, data: Uint8Array.from(data) })
    sample.release()
  })
  branch.start().catch(() => {})
  return {
    async remove() {
      samples.close()
      await branch.remove()
    },
    part: samples.close,
  }
}

function trackOf({ fields }: Caps): SoundTrack | undefined {
  const { rate, channels, codec_data: configuration } = fields
  if (typeof rate !== 'number' || typeof channels !== 'number') return undefined
  return configuration instanceof Uint8Array ? { rate, channels, configuration } : undefined
}

function launch(decoder: string | undefined): string {
  const encoding = decoder
    ? [
        `${decoder} name=${NAME}-decoder`,
        `audioconvert name=${NAME}-convert`,
        `audioresample name=${NAME}-resample`,
        `audio/x-raw,rate=${RATE},channels=[1,2]`,
        `avenc_aac name=${NAME}-encoder`,
        `aacparse name=${NAME}-parse`,
        'audio/mpeg,stream-format=raw',
      ]
    : []
  return [
    guard('sound'),
    `queue name=${NAME}-queue leaky=downstream max-size-buffers=0 max-size-bytes=0 max-size-time=1000000000`,
    ...encoding,
    `appsink name=${SINK} sync=false async=false`,
  ].join(' ! ')
}
