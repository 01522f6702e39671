import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { CachedUnit, Track } from './live-stream.ts'

/** Units from a keyframe on, in decoding order, which can be decoded by themselves. */
export interface Group {
  track: Track
  units: CachedUnit[]
}

/** What has come last, in whole groups of pictures. */
export interface RecentGroups {
  add(unit: CachedUnit, track: Track): void
  /** What comes next does not continue what was: the group under way is at its end. */
  interrupt(): void
  /** The units of the group under way. */
  currentUnits(): readonly CachedUnit[]
  /** The oldest first, the one under way last. */
  groups(): readonly Group[]
  /** So many seconds before the newest picture are kept, as far as they fit. */
  retain(seconds: number): void
}

export function createRecentGroups(mostBytes: number): RecentGroups {
  const ended: (Group & { bytes: number })[] = []
  let current: (Group & { bytes: number }) | undefined
  let keptTicks = 0

  function end() {
    if (current) ended.push(current)
    current = undefined
  }

  function trim(newestPts: number) {
    const bytes = () => [...ended, ...(current ? [current] : [])].reduce((sum, group) => sum + group.bytes, 0)
    const isSpare = () => {
      const next = ended[1] ?? current
      return next && next.units[0]!.pts <= newestPts - keptTicks
    }
    while (ended.length > 0 && (isSpare() || bytes() > mostBytes)) ended.shift()
    if (bytes() > mostBytes) current = undefined
  }

  return {
    add(unit, track) {
      if (unit.keyframe) {
        end()
        current = { track, units: [], bytes: 0 }
      }
      if (!current) return
      current.units.push(unit)
      current.bytes += unit.data.length
      trim(unit.pts)
    },
    interrupt: end,
    currentUnits: () => current?.units ?? [],
    groups: () => (current ? [...ended, current] : ended),
    retain(seconds) {
      keptTicks = seconds * TICKS_PER_SECOND
    },
  }
}
