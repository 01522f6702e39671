import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { RecordedFragment } from './playback-fragment.ts'

/** What is known of the pictures of a playback: when they are shown in it, and when they were recorded. */
export interface PlaybackTimes {
  add(fragment: Pick<RecordedFragment, 'pictures' | 'originMs'>): void
  /** When the picture that is shown at these ticks was recorded, in ms since 1970. */
  recordedAt(ticks: number): number | undefined
  /**
   * Ticks of the picture to show for a moment: the last one before it, or the nearest. Undefined while that has not come,
   * which `complete` says it has.
   */
  find(timeMs: number, snap: Snap, complete?: boolean): number | undefined
  /** The picture so many places further on; undefined where that is not there. */
  neighbour(ticks: number, places: number): number | undefined
  /** ms since 1970. */
  firstMs(): number | undefined
  lastMs(): number | undefined
  /** Pictures before these ticks are not there any more. */
  forget(ticks: number): void
}

/** `before`: as a recording is read at a time; `nearest`: the time is that of a picture, rounded. */
export type Snap = 'before' | 'nearest'

interface Part {
  originMs: number
  pictures: number[]
}

const TICKS_PER_MS = TICKS_PER_SECOND / 1000

export function createPlaybackTimes(): PlaybackTimes {
  let parts: Part[] = []
  const pictures = () => parts.flatMap(part => part.pictures)
  const msOf = (part: Part, ticks: number) => part.originMs + ticks / TICKS_PER_MS
  const partAt = (ticks: number) => parts.findLast(part => part.pictures[0]! <= ticks) ?? parts[0]

  function lastMs() {
    const part = parts.at(-1)
    return part && msOf(part, part.pictures.at(-1)!)
  }

  return {
    add({ pictures, originMs }) {
      if (pictures.length > 0) parts.push({ pictures, originMs })
    },
    recordedAt(ticks) {
      const part = partAt(ticks)
      return part && msOf(part, ticks)
    },
    find(timeMs, snap, complete = false) {
      const timed = parts.flatMap(part => part.pictures.map(ticks => ({ ticks, ms: msOf(part, ticks) })))
      const [first, last] = [timed[0], timed.at(-1)]
      if (!first || !last || (!complete && last.ms <= timeMs)) return undefined
      const before = timed.findLast(({ ms }) => ms <= timeMs) ?? first
      const after = timed.find(({ ms }) => ms > timeMs) ?? last
      const isNext = snap === 'nearest' && after.ms - timeMs < timeMs - before.ms
      return (isNext ? after : before).ticks
    },
    neighbour(ticks, places) {
      const all = pictures()
      const here = all.findLastIndex(each => each <= ticks + TICKS_PER_MS / 2)
      return here < 0 ? undefined : all[here + places]
    },
    firstMs: () => (parts[0] ? msOf(parts[0], parts[0].pictures[0]!) : undefined),
    lastMs,
    forget(ticks) {
      parts = parts.filter(part => part.pictures.at(-1)! >= ticks)
    },
  }
}
