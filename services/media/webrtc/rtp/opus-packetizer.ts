import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { opusSamples } from '../../sound/opus-duration.ts'
import type { SoundUnit } from '../../sound/sound-track.ts'
import { createRtpNumbering, HEADER_BYTES, mark, type RtpIdentity } from './rtp-packet.ts'

/** Of RTP's clock for Opus, whatever is coded (RFC 7587, 4.1). */
export const OPUS_RATE = 48_000
const TICKS_PER_SAMPLE = TICKS_PER_SECOND / OPUS_RATE
/** Sound whose times are off by less is one piece: receivers would fill each gap of a sample, and click. */
const TOLERANCE_SAMPLES = 960

/** Stream time, in 90 kHz ticks, by the clock of sound. */
const opusTime = (pts: number) => Math.round(pts / TICKS_PER_SAMPLE)

/** RTP packets of Opus (RFC 7587). Their timestamp is the stream time of their first sample, by a clock of 48 kHz modulo 2³². */
export interface OpusPacketizer {
  /** Undefined for what is no Opus packet, and for sound of a time that has passed. */
  packet(unit: Pick<SoundUnit, 'pts' | 'data'>): Buffer | undefined
}

export function createOpusPacketizer(identity: RtpIdentity): OpusPacketizer {
  const numbered = createRtpNumbering(identity)
  let next: number | undefined

  return {
    packet({ pts, data }) {
      const samples = opusSamples(data)
      if (samples === 0) return undefined
      const own = opusTime(pts)
      const off = next === undefined ? Number.POSITIVE_INFINITY : own - next
      if (off < -TOLERANCE_SAMPLES) return undefined
      const goesOn = off <= TOLERANCE_SAMPLES
      const time = goesOn ? next! : own
      next = time + samples
      const packet = numbered(time, data.length)
      packet.set(data, HEADER_BYTES)
      if (!goesOn) mark(packet)
      return packet
    },
  }
}
