import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/** Converts between media time of a video element (seconds) and stream time (pts in 90 kHz ticks). */
export interface MediaClock {
  /** Value for `SourceBuffer.timestampOffset`: moves the first fragment into the first second. */
  readonly timestampOffset: number
  /** Exact, because browsers keep media time in µs and a tick is 11 µs. */
  toPts(mediaTime: number): number
  toMediaTime(pts: number): number
}

/** The offset is a whole number of seconds, so that it adds no rounding error. */
export function createMediaClock(firstDts: number): MediaClock {
  const origin = Math.floor(firstDts / TICKS_PER_SECOND)
  return {
    timestampOffset: -origin,
    toPts: mediaTime => Math.round(mediaTime * TICKS_PER_SECOND) + origin * TICKS_PER_SECOND,
    toMediaTime: pts => pts / TICKS_PER_SECOND - origin,
  }
}

const RTP_TIMESTAMP_RANGE = 2 ** 32

/** Extends RTP timestamps, the lowest 32 bits of the pts, to the full pts. */
export interface RtpClock {
  /** Returns the pts with this timestamp that is closest to the previous one. */
  toPts(rtpTimestamp: number): number
}

/** `initialPts` must be within half the range, about six hours, of the first timestamp. */
export function createRtpClock(initialPts: number): RtpClock {
  let pts = initialPts
  return {
    toPts(rtpTimestamp) {
      const ahead = (((rtpTimestamp - pts) % RTP_TIMESTAMP_RANGE) + RTP_TIMESTAMP_RANGE) % RTP_TIMESTAMP_RANGE
      pts += ahead < RTP_TIMESTAMP_RANGE / 2 ? ahead : ahead - RTP_TIMESTAMP_RANGE
      return pts
    },
  }
}
