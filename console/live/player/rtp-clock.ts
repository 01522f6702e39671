const RANGE = 2 ** 32

/** Stream time out of RTP timestamps, which are its lowest 32 bits. */
export interface RtpClock {
  /** The moment nearest to the one before that has this timestamp, in ticks. */
  ptsAt(rtpTimestamp: number): number
}

/** `near` is where the stream is about, to within half the range: six hours. */
export function createRtpClock(near: number): RtpClock {
  let last = near
  return {
    ptsAt(rtpTimestamp) {
      const ahead = (((rtpTimestamp - last) % RANGE) + RANGE) % RANGE
      last += ahead < RANGE / 2 ? ahead : ahead - RANGE
      return last
    },
  }
}
