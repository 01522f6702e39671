import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { PlaybackFragment } from './playback-fragment.ts'

/** The frames in the buffer, by presentation time (ticks of the playback) and by recording time (ms since 1970). */
export interface FrameIndex {
  add(fragment: Pick<PlaybackFragment, 'frames' | 'originMs'>): void
  /** Returns the recording time of the frame at these ticks. */
  getRecordedMs(ticks: number): number | undefined
  /** Returns the ticks of the frame to show for a seek, or undefined while later frames may still be loaded. */
  find(target: SeekTarget, isComplete: boolean): number | undefined
  /** Returns the ticks of the frame this many steps away, if it is in the buffer. */
  findNeighbor(ticks: number, steps: number): number | undefined
  /** Recording times of the first and the last frame. */
  getSpan(): { firstMs: number; lastMs: number } | undefined
  removeBefore(ticks: number): void
}

export interface SeekTarget {
  timeMs: number
  /** `before`: the frame on display at this time. `nearest`: the time is that of a frame, but rounded. */
  match: 'before' | 'nearest'
}

type Part = Pick<PlaybackFragment, 'frames' | 'originMs'>

const TICKS_PER_MS = TICKS_PER_SECOND / 1000

export function createFrameIndex(): FrameIndex {
  /** Fragments with at least one frame. */
  let parts: Part[] = []
  const toRecordedMs = (part: Part, ticks: number) => part.originMs + ticks / TICKS_PER_MS

  return {
    add({ frames, originMs }) {
      if (frames.length > 0) parts.push({ frames, originMs })
    },

    getRecordedMs(ticks) {
      const part = parts.findLast(({ frames }) => frames[0]! <= ticks) ?? parts[0]
      return part && toRecordedMs(part, ticks)
    },

    find({ timeMs, match }, isComplete) {
      const frames = parts.flatMap(part =>
        part.frames.map(ticks => ({ ticks, ms: toRecordedMs(part, ticks) })),
      )
      const [first, last] = [frames[0], frames.at(-1)]
      if (!first || !last || (!isComplete && last.ms <= timeMs)) return undefined
      const before = frames.findLast(({ ms }) => ms <= timeMs) ?? first
      const after = frames.find(({ ms }) => ms > timeMs) ?? last
      const isAfterNearer = match === 'nearest' && after.ms - timeMs < timeMs - before.ms
      return (isAfterNearer ? after : before).ticks
    },

    findNeighbor(ticks, steps) {
      const frames = parts.flatMap(part => part.frames)
      const current = frames.findLastIndex(frame => frame <= ticks + TICKS_PER_MS / 2)
      return current < 0 ? undefined : frames[current + steps]
    },

    getSpan() {
      const [first, last] = [parts[0], parts.at(-1)]
      if (!first || !last) return undefined
      return {
        firstMs: toRecordedMs(first, first.frames[0]!),
        lastMs: toRecordedMs(last, last.frames.at(-1)!),
      }
    },

    removeBefore(ticks) {
      parts = parts.filter(({ frames }) => frames.at(-1)! >= ticks)
    },
  }
}
