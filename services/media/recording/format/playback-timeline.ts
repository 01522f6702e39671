import type { Fragment, SegmentContent, SegmentInfo } from './segment-format.ts'

/** Where a playback of several fragments has come to. Times in 90 kHz ticks. */
export interface TimelinePosition {
  /** In the playback. */
  end: number
  /** In the stream. */
  epoch: number
  streamEnd: number
}

export const timelineStart: TimelinePosition = { end: 0, epoch: Number.NaN, streamEnd: 0 }

/** A longer time without a picture is left out of a playback. */
const HOLE_TICKS = 180_000

/** What is played of a segment: from the keyframe at or before `fromUs` on, up to `toUs`. */
export function selectFragments({ fragments }: SegmentContent, fromUs: number, toUs: number): Fragment[] {
  const first = fragments.findLastIndex(({ timeUs, samples }) => samples[0]!.keyframe && timeUs <= fromUs)
  return fragments.slice(Math.max(first, 0)).filter(({ timeUs }) => timeUs < toUs)
}

/** Decoding time at which a fragment begins in a playback, and where the playback is behind it. */
export function placeFragment(
  before: TimelinePosition,
  { epoch, pts }: SegmentInfo,
  fragment: Fragment,
): { at: number; after: TimelinePosition } {
  const begin = pts + fragment.samples[0]!.dts
  const hole = begin - before.streamEnd
  const goesOn = before.epoch === epoch && hole >= 0 && hole < HOLE_TICKS
  const at = before.end + (goesOn ? hole : 0)
  const length = getDuration(fragment)
  return { at, after: { end: at + length, epoch, streamEnd: begin + length } }
}

/** From the first picture to the end of the last one, in decoding order. */
export function getDuration({ samples }: Fragment): number {
  const [first, last] = [samples[0]!, samples.at(-1)!]
  return last.dts + last.duration - first.dts
}
