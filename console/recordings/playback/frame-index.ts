import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { PlaybackFragment } from './playback-fragment.ts'

/**
 * An index of the recorded frames that are in the buffer of the video element. It converts between
 * the presentation time of a frame, in ticks of 90 kHz since the start of the loaded recording, and
 * its recording time, in ms since 1970.
 *
 * The recording consists of fragments, each with a few frames and its own origin: the
 * recording time of tick 0.
 */
export interface FrameIndex {
  /** Adds a fragment, which must follow those in the index. */
  add(fragment: IndexedFragment): void
  /** Returns the recording time for a presentation time; undefined if the index is empty. */
  getRecordedMs(ticks: number): number | undefined
  /**
   * Returns the presentation time of the frame to show for a seek. Returns undefined while a better
   * frame may still be loaded, which is never the case if `isComplete`.
   */
  find(target: SeekTarget, isComplete: boolean): number | undefined
  /**
   * Returns the presentation time of the frame this many steps away; undefined if it
   * is not in the buffer.
   */
  findNeighbor(ticks: number, steps: number): number | undefined
  /** Returns the recording times of the first frame, the last one, and the end of the last one. */
  getSpan(): { firstMs: number; lastMs: number; endMs: number } | undefined
  /** Removes the fragments whose frames are all before a presentation time. */
  removeBefore(ticks: number): void
}

export interface SeekTarget {
  timeMs: number
  /**
   * `before`: the last frame at or before the time. `after`: the first frame after it. `nearest`:
   * the closest frame, for a time that was rounded.
   */
  match: 'before' | 'after' | 'nearest'
}

type IndexedFragment = Pick<PlaybackFragment, 'frames' | 'end' | 'originMs'>

const TICKS_PER_MS = TICKS_PER_SECOND / 1000
/** More than the rounding error of a browser, and less than the distance between two frames. */
const TOLERANCE_MS = 0.5
const TOLERANCE_TICKS = TOLERANCE_MS * TICKS_PER_MS

export function createFrameIndex(): FrameIndex {
  /** Fragments with at least one frame, in order of presentation. */
  let fragments: IndexedFragment[] = []

  return {
    add({ frames, end, originMs }) {
      if (frames.length > 0) fragments.push({ frames, end, originMs })
    },

    getRecordedMs(ticks) {
      const current = fragments.findLast(({ frames }) => frames[0]! <= ticks)
      const fragment = current ?? fragments[0]
      return fragment && toRecordedMs(fragment, ticks)
    },

    find({ timeMs, match }, isComplete) {
      const timedFrames = fragments.flatMap(listTimedFrames)
      const first = timedFrames[0]
      const last = timedFrames.at(-1)
      if (!first || !last) return undefined
      // Without the tolerance, a time that was rounded down would find the frame it belongs to.
      const soughtMs = match === 'after' ? timeMs + TOLERANCE_MS : timeMs
      if (!isComplete && last.recordedMs <= soughtMs) return undefined

      const before = timedFrames.findLast(({ recordedMs }) => recordedMs <= soughtMs) ?? first
      const after = timedFrames.find(({ recordedMs }) => recordedMs > soughtMs) ?? last
      const isAfterNearer = after.recordedMs - timeMs < timeMs - before.recordedMs
      return match === 'after' || (match === 'nearest' && isAfterNearer)
        ? after.ticks
        : before.ticks
    },

    findNeighbor(ticks, steps) {
      const allTicks = fragments.flatMap(({ frames }) => frames)
      const currentIndex = allTicks.findLastIndex(frame => frame <= ticks + TOLERANCE_TICKS)
      return currentIndex < 0 ? undefined : allTicks[currentIndex + steps]
    },

    getSpan() {
      const first = fragments[0]
      const last = fragments.at(-1)
      if (!first || !last) return undefined
      return {
        firstMs: toRecordedMs(first, first.frames[0]!),
        lastMs: toRecordedMs(last, last.frames.at(-1)!),
        endMs: toRecordedMs(last, last.end),
      }
    },

    removeBefore(ticks) {
      fragments = fragments.filter(({ frames }) => frames.at(-1)! >= ticks)
    },
  }
}

const toRecordedMs = ({ originMs }: IndexedFragment, ticks: number) =>
  originMs + ticks / TICKS_PER_MS

/** Returns both times of all frames in a fragment. */
const listTimedFrames = (fragment: IndexedFragment) =>
  fragment.frames.map(ticks => ({ ticks, recordedMs: toRecordedMs(fragment, ticks) }))
