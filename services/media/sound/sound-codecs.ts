import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Caps, Sample } from '../node-gst/index.ts'
import { countOpusSamples } from './opus-duration.ts'
import type { OpusTrack, SoundTrack } from './sound-track.ts'

/** A codec in which sound is provided. Sound that already has it is passed through, other sound is transcoded. */
export interface SoundCodec<Track> {
  readonly name: string
  /** Whether sound with these caps can be passed through. */
  matches(caps: Caps): boolean
  /** Elements that encode raw sound. */
  readonly encoder: readonly [element: string, ...more: string[]]
  /** Returns undefined if the caps are incomplete. */
  parseTrack(caps: Caps): Track | undefined
  /** Presentation time of a sample in 90 kHz ticks of stream time. `isTranscoded` is true if `encoder` produced it. */
  toStreamTime(sample: Sample, isTranscoded: boolean): number | undefined
}

/** Sound is resampled to this rate before it is encoded. */
export const ENCODER_SAMPLE_RATE = 48_000
const TICKS_PER_SAMPLE = TICKS_PER_SECOND / ENCODER_SAMPLE_RATE
/** Delay of libavcodec's AAC encoder, which it does not report. */
const AAC_DELAY_SAMPLES = 1024

export const aac: SoundCodec<SoundTrack> = {
  name: 'aac',
  matches: isAac,
  encoder: ['avenc_aac', 'aacparse', 'audio/mpeg,stream-format=raw'],
  parseTrack({ fields: { rate, channels, codec_data: configuration } }) {
    if (typeof rate !== 'number' || typeof channels !== 'number') return undefined
    return configuration instanceof Uint8Array ? { rate, channels, configuration } : undefined
  },
  toStreamTime({ pts }, isTranscoded) {
    if (pts === null) return undefined
    return isTranscoded ? pts - Math.round(AAC_DELAY_SAMPLES * TICKS_PER_SAMPLE) : pts
  },
}

/** A single stream with one or two channels, the only form that RTP carries (RFC 7587). */
export const opus: SoundCodec<OpusTrack> = {
  name: 'opus',
  matches: ({ name, fields }) => name === 'audio/x-opus' && (fields['channel-mapping-family'] ?? 0) === 0,
  encoder: ['opusenc'],
  parseTrack: ({ fields: { channels } }) => ({ channels: typeof channels === 'number' ? channels : 2 }),
  /** The encoder subtracts its delay from the duration of the first packet, but receivers play that packet in full. */
  toStreamTime({ pts, duration, data }) {
    if (pts === null) return undefined
    return duration === null ? pts : Math.round(pts + duration - countOpusSamples(data) * TICKS_PER_SAMPLE)
  },
}

export function isAac({ name, fields }: Caps): boolean {
  return name === 'audio/mpeg' && fields.mpegversion === 4
}
