import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/** How the media element's seconds and the stream's 90 kHz ticks belong together. */
export interface Timeline {
  /** For SourceBuffer.timestampOffset: seconds that bring the stream's first fragment near to zero. */
  readonly timestampOffset: number
  /** Exact: a browser keeps media time in µs, and a tick is 11 µs. */
  ptsAt(mediaTime: number): number
  mediaTimeOf(pts: number): number
}

/** The offset is a whole number of seconds, so that no rounding comes in by it. */
export function timelineFrom(firstDts: number): Timeline {
  const origin = Math.floor(firstDts / TICKS_PER_SECOND)
  return {
    timestampOffset: -origin,
    ptsAt: mediaTime => Math.round(mediaTime * TICKS_PER_SECOND) + origin * TICKS_PER_SECOND,
    mediaTimeOf: pts => pts / TICKS_PER_SECOND - origin,
  }
}
