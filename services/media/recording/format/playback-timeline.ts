import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Fragment, SegmentContent, SegmentInfo } from './segment-format.ts'

/**
 * Position in a playback. A playback joins fragments (groups of pictures) of several recorded
 * segments and leaves out the gaps between them, so its time differs from stream time. Times
 * are in 90 kHz ticks.
 */
export interface TimelinePosition {
  /** End of the last fragment in playback time. */
  end: number
  /** Epoch of the last fragment: stream times of different epochs are not comparable. */
  epoch: number
  /** End of the last fragment in stream time. */
  streamEnd: number
}

export const TIMELINE_START: TimelinePosition = { end: 0, epoch: Number.NaN, streamEnd: 0 }

/** Gaps of this length or more are left out of the playback. */
const MAX_GAP_TICKS = 2 * TICKS_PER_SECOND

/** Returns the fragments from the keyframe at or before `fromUs` to `toUs` (exclusive). */
export function selectFragments(
  { fragments }: SegmentContent,
  fromUs: number,
  toUs: number,
): Fragment[] {
  const firstIndex = fragments.findLastIndex(
    ({ timeUs, pictures }) => pictures[0]!.keyframe && timeUs <= fromUs,
  )
  // If all keyframes are later, the playback begins with the first fragment.
  return fragments.slice(Math.max(firstIndex, 0)).filter(({ timeUs }) => timeUs < toUs)
}

/**
 * Returns the playback time at which decoding of a fragment begins, and the position after the
 * fragment.
 */
export function placeFragment(
  before: TimelinePosition,
  { epoch, pts }: SegmentInfo,
  fragment: Fragment,
): { decodeTime: number; after: TimelinePosition } {
  const streamBegin = pts + fragment.pictures[0]!.dts
  const gap = streamBegin - before.streamEnd
  const isContinuous = before.epoch === epoch && gap >= 0 && gap < MAX_GAP_TICKS
  const decodeTime = before.end + (isContinuous ? gap : 0)

  const duration = getDuration(fragment)
  const after = { end: decodeTime + duration, epoch, streamEnd: streamBegin + duration }
  return { decodeTime, after }
}

/**
 * Returns the time from the first picture to the end of the last one in decoding
 * order, in 90 kHz ticks.
 */
export function getDuration({ pictures }: Fragment): number {
  const last = pictures.at(-1)!
  return last.dts + last.duration - pictures[0]!.dts
}
