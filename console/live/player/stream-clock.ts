import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/** RTP timestamps have 32 bits and wrap around (RFC 3550, section 5.1). */
const RTP_TIMESTAMP_RANGE = 2 ** 32

/**
 * Converts between the media time of a video element, in seconds, and the presentation time (pts)
 * of a live stream, in ticks of 90 kHz. Used for fragmented MP4; WebRTC has the `RtpClock` below.
 */
export interface MediaClock {
  /**
   * Value for `SourceBuffer.timestampOffset`, in seconds. Moves the first fragment into the first
   * second of media time.
   */
  readonly timestampOffset: number
  /** The result is exact, because browsers store media time in µs and a tick is 11 µs long. */
  toPts(mediaTime: number): number
  toMediaTime(pts: number): number
}

/** The offset is a whole number of seconds, so that it adds no rounding error. */
export function createMediaClock(firstDts: number): MediaClock {
  const originS = Math.floor(firstDts / TICKS_PER_SECOND)
  return {
    timestampOffset: -originS,
    toPts: mediaTime => Math.round(mediaTime * TICKS_PER_SECOND) + originS * TICKS_PER_SECOND,
    toMediaTime: pts => pts / TICKS_PER_SECOND - originS,
  }
}

/** Extends RTP timestamps to the full pts. A timestamp is the lowest 32 bits of the pts. */
export interface RtpClock {
  /** Returns the pts with this timestamp that is closest to the previous one. */
  toPts(rtpTimestamp: number): number
}

/** `initialPts` must be within 2^31 ticks, or about six hours, of the first frame. */
export function createRtpClock(initialPts: number): RtpClock {
  let pts = initialPts
  return {
    toPts(rtpTimestamp) {
      const ahead = modulo(rtpTimestamp - pts, RTP_TIMESTAMP_RANGE)
      const isLater = ahead < RTP_TIMESTAMP_RANGE / 2
      pts += isLater ? ahead : ahead - RTP_TIMESTAMP_RANGE
      return pts
    },
  }
}

/**
 * Returns the remainder as a number from 0 to `divisor`. The operator `%` returns negative
 * remainders of negative numbers.
 */
const modulo = (dividend: number, divisor: number) => ((dividend % divisor) + divisor) % divisor
