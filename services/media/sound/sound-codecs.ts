import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Caps, Sample } from '../node-gst/index.ts'
import { countOpusSamples } from './opus-duration.ts'
import type { OpusTrack, SoundTrack } from './sound-track.ts'

/**
 * A codec in which listeners can request the sound of a source: AAC or Opus. Sound in this codec is
 * passed through; other sound is transcoded to it.
 */
export interface SoundCodec<Track> {
  readonly name: string
  /** Whether sound with these caps can be passed through. */
  matches(caps: Caps): boolean
  /** Elements that encode raw sound, as launch strings. */
  readonly encoder: readonly [element: string, ...more: string[]]
  /** Parses the format of the sound. Returns undefined if the caps are incomplete. */
  parseTrack(caps: Caps): Track | undefined
  /**
   * Returns the stream time of a sample in 90 kHz ticks. `isTranscoded` is true if `encoder` has
   * produced the sample.
   */
  toStreamTime(sample: Sample, isTranscoded: boolean): number | undefined
}

/** Sample rate of transcoded sound. */
export const ENCODER_SAMPLE_RATE = 48_000
const TICKS_PER_SAMPLE = TICKS_PER_SECOND / ENCODER_SAMPLE_RATE
/** Delay of libavcodec's AAC encoder. The encoder does not report it. */
const AAC_DELAY_SAMPLES = 1024

/** AAC, for recordings and for players of fragmented MP4. */
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

/** Opus as a single stream with one or two channels, the only form that RTP supports (RFC 7587). */
export const opus: SoundCodec<OpusTrack> = {
  name: 'opus',
  matches: ({ name, fields }) =>
    name === 'audio/x-opus' && (fields['channel-mapping-family'] ?? 0) === 0,
  encoder: ['opusenc'],
  parseTrack: ({ fields: { channels } }) => ({
    channels: typeof channels === 'number' ? channels : 2,
  }),
  toStreamTime({ pts, duration, data }) {
    if (pts === null) return undefined
    if (duration === null) return pts
    // The encoder subtracts its delay from the duration of the first packet, but receivers play
    // this packet in full.
    return Math.round(pts + duration - countOpusSamples(data) * TICKS_PER_SAMPLE)
  },
}

/** Whether caps describe AAC. */
export function isAac({ name, fields }: Caps): boolean {
  return name === 'audio/mpeg' && fields.mpegversion === 4
}
