import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Caps, Sample } from '../node-gst/index.ts'
import { countOpusSamples } from './opus-duration.ts'
import type { OpusTrack, SoundTrack } from './sound-track.ts'

/** A form in which sound is handed on: as it came where it has this form, encoded where it has another. */
export interface SoundCodec<Track> {
  readonly name: string
  /** Whether sound with these caps can be handed on as it is. */
  matches(caps: Caps): boolean
  /** Elements that make it of raw sound, and their options. */
  readonly encoder: readonly [element: string, ...more: string[]]
  /** Undefined where the caps do not say all that is needed. */
  parseTrack(caps: Caps): Track | undefined
  /** When what is in the sample is to be heard, in 90 kHz ticks of stream time. */
  toStreamTime(sample: Sample, encoded: boolean): number | undefined
}

/** To which sound is resampled before it is encoded. */
export const ENCODER_SAMPLE_RATE = 48_000
const TICKS_PER_SAMPLE = TICKS_PER_SECOND / ENCODER_SAMPLE_RATE
/** Of libavcodec's encoder, which does not tell it: what goes in comes out so much later. */
const AAC_DELAY_SAMPLES = 1024

export const aac: SoundCodec<SoundTrack> = {
  name: 'aac',
  matches: isAac,
  encoder: ['avenc_aac', 'aacparse', 'audio/mpeg,stream-format=raw'],
  parseTrack({ fields: { rate, channels, codec_data: configuration } }) {
    if (typeof rate !== 'number' || typeof channels !== 'number') return undefined
    return configuration instanceof Uint8Array ? { rate, channels, configuration } : undefined
  },
  toStreamTime({ pts }, encoded) {
    if (pts === null) return undefined
    return encoded ? pts - Math.round(AAC_DELAY_SAMPLES * TICKS_PER_SAMPLE) : pts
  },
}

/** One stream of one or two channels, which is all that RTP carries (RFC 7587). */
export const opus: SoundCodec<OpusTrack> = {
  name: 'opus',
  matches: ({ name, fields }) => name === 'audio/x-opus' && (fields['channel-mapping-family'] ?? 0) === 0,
  encoder: ['opusenc'],
  parseTrack: ({ fields: { channels } }) => ({ channels: typeof channels === 'number' ? channels : 2 }),
  /** The encoder takes its delay off the duration of the first packet, which a receiver plays in full. */
  toStreamTime({ pts, duration, data }) {
    if (pts === null) return undefined
    return duration === null ? pts : Math.round(pts + duration - countOpusSamples(data) * TICKS_PER_SAMPLE)
  },
}

export function isAac({ name, fields }: Caps): boolean {
  return name === 'audio/mpeg' && fields.mpegversion === 4
}
