import { countOpusSamples } from '../../sound/opus-duration.ts'
import type { SoundUnit } from '../../sound/sound-track.ts'
import { createRtpPacketFactory, HEADER_BYTES, type RtpIdentity, setMarker } from './rtp-packet.ts'

/** RTP clock of Opus in Hz for every sample rate (RFC 7587, 4.1). */
export const OPUS_CLOCK_RATE = 48_000
const TICKS_PER_SAMPLE = 90_000 / OPUS_CLOCK_RATE
/** Smaller deviations are ignored: receivers would conceal every gap of a few samples, with an audible click. */
const TOLERANCE_SAMPLES = 960

/** Packetizes Opus (RFC 7587). RTP timestamps are the stream time of the first sample at 48 kHz, modulo 2³². */
export interface OpusPacketizer {
  /** Returns undefined for an invalid Opus packet and for sound that overlaps what was sent before. */
  packetize(unit: Pick<SoundUnit, 'pts' | 'data'>): Buffer | undefined
}

export function createOpusPacketizer(identity: RtpIdentity): OpusPacketizer {
  const createPacket = createRtpPacketFactory(identity)
  /** Time at which the last packet ended. */
  let nextTime: number | undefined

  return {
    packetize({ pts, data }) {
      const samples = countOpusSamples(data)
      if (samples === 0) return undefined
      const unitTime = Math.round(pts / TICKS_PER_SAMPLE)
      const deviation = nextTime === undefined ? Number.POSITIVE_INFINITY : unitTime - nextTime
      if (deviation < -TOLERANCE_SAMPLES) return undefined
      const isContinuous = deviation <= TOLERANCE_SAMPLES
      const time = isContinuous ? nextTime! : unitTime
      nextTime = time + samples
      const packet = createPacket(time, data.length)
      packet.set(data, HEADER_BYTES)
      if (!isContinuous) setMarker(packet)
      return packet
    },
  }
}
