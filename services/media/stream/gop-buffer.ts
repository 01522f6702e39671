import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { StreamUnit, Track } from './live-stream.ts'

/** A group of pictures: units from a keyframe on, in decoding order. */
export interface Gop {
  track: Track
  units: StreamUnit[]
}

/** The most recent groups of pictures of a stream, limited by time and size. */
export interface GopBuffer {
  add(unit: StreamUnit, track: Track): void
  /** Ends the current GOP: packets are missing before the next unit. */
  interrupt(): void
  /** The units of the current GOP. */
  currentUnits(): readonly StreamUnit[]
  /** From the oldest to the current one. */
  gops(): readonly Gop[]
  /** Sets how many seconds before the newest picture are retained, within the size limit. */
  retain(seconds: number): void
}

interface SizedGop extends Gop {
  bytes: number
}

export function createGopBuffer(maxBytes: number): GopBuffer {
  const ended: SizedGop[] = []
  let current: SizedGop | undefined
  let retainedTicks = 0

  function end() {
    if (current) ended.push(current)
    current = undefined
  }

  function countBytes(): number {
    return ended.reduce((sum, { bytes }) => sum + bytes, current?.bytes ?? 0)
  }

  /** Whether the units after the oldest GOP cover the retained time. */
  function isOldestSpare(newestPts: number): boolean {
    const next = ended[1] ?? current
    return next !== undefined && next.units[0]!.pts <= newestPts - retainedTicks
  }

  function trim(newestPts: number) {
    while (ended.length > 0 && (isOldestSpare(newestPts) || countBytes() > maxBytes)) ended.shift()
    if (countBytes() > maxBytes) current = undefined
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
    gops: () => (current ? [...ended, current] : ended),
    retain(seconds) {
      retainedTicks = seconds * TICKS_PER_SECOND
    },
  }
}
