import { TICKS_PER_SECOND } from '@eyrie/contract'
import { countOpusSamples } from '../../sound/opus-duration.ts'
import type { SoundUnit } from '../../sound/sound-track.ts'
import { createRtpPacketFactory, HEADER_BYTES, type RtpIdentity, setMarker } from './rtp-packet.ts'

/**
 * Packs Opus sound into RTP packets (RFC 7587), which WebRTC sends to viewers. The RTP timestamp is
 * the stream time of the first sample, counted at 48 kHz, modulo 2³².
 */
export interface OpusPacketizer {
  /**
   * Returns the RTP packet; undefined if the Opus packet is invalid or overlaps the previous one.
   */
  packetize(unit: Pick<SoundUnit, 'pts' | 'data'>): Buffer | undefined
}

/** RTP clock rate of Opus in Hz, which is the same for every sample rate (RFC 7587, 4.1). */
export const OPUS_CLOCK_RATE = 48_000
const TICKS_PER_SAMPLE = TICKS_PER_SECOND / OPUS_CLOCK_RATE
/**
 * A sound unit that begins at most this much before or after the end of the previous packet
 * continues it without a gap, because receivers conceal even a gap of a few samples with an audible
 * click.
 */
const TOLERANCE_SAMPLES = 960

export function createOpusPacketizer(identity: RtpIdentity): OpusPacketizer {
  const createPacket = createRtpPacketFactory(identity)
  /** End of the previous packet, in samples; undefined before the first one. */
  let endTime: number | undefined

  return {
    packetize({ pts, data }) {
      const samples = countOpusSamples(data)
      if (samples === 0) return undefined

      const unitTime = Math.round(pts / TICKS_PER_SAMPLE)
      const gap = endTime === undefined ? Number.POSITIVE_INFINITY : unitTime - endTime
      const isOverlapping = gap < -TOLERANCE_SAMPLES
      if (isOverlapping) return undefined

      const isContinuous = gap <= TOLERANCE_SAMPLES
      // Without its gap, the unit begins at the end of the previous packet.
      const time = isContinuous ? unitTime - gap : unitTime
      endTime = time + samples

      const packet = createPacket(time, data.length)
      packet.set(data, HEADER_BYTES)
      if (!isContinuous) setMarker(packet)
      return packet
    },
  }
}
