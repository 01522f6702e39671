import type { Fragment, SegmentContent, SegmentInfo } from './segment-format.ts'

/** Position in a playback of several fragments, in 90 kHz ticks. */
export interface TimelinePosition {
  /** End of the last fragment in the playback. */
  end: number
  /** End of the last fragment in its stream. */
  epoch: number
  streamEnd: number
}

export const timelineStart: TimelinePosition = { end: 0, epoch: Number.NaN, streamEnd: 0 }

/** Longer gaps are skipped. */
const GAP_TICKS = 180_000

/** Selects the fragments from the keyframe at or before `fromUs` on, up to `toUs`. */
export function selectFragments({ fragments }: SegmentContent, fromUs: number, toUs: number): Fragment[] {
  const first = fragments.findLastIndex(({ timeUs, samples }) => samples[0]!.keyframe && timeUs <= fromUs)
  return fragments.slice(Math.max(first, 0)).filter(({ timeUs }) => timeUs < toUs)
}

/** Returns the decode time at which a fragment begins in the playback, and the position after it. */
export function placeFragment(
  before: TimelinePosition,
  { epoch, pts }: SegmentInfo,
  fragment: Fragment,
): { decodeTime: number; after: TimelinePosition } {
  const begin = pts + fragment.samples[0]!.dts
  const gap = begin - before.streamEnd
  const isContinuous = before.epoch === epoch && gap >= 0 && gap < GAP_TICKS
  const decodeTime = before.end + (isContinuous ? gap : 0)
  const duration = getDuration(fragment)
  return { decodeTime, after: { end: decodeTime + duration, epoch, streamEnd: begin + duration } }
}

/** From the first picture to the end of the last one, in decoding order. */
export function getDuration({ samples }: Fragment): number {
  const last = samples.at(-1)!
  return last.dts + last.duration - samples[0]!.dts
}
