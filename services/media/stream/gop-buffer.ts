import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { StreamUnit, Track } from './live-stream.ts'

/** A group of pictures: a keyframe and the units until the next keyframe, in decoding order. */
export interface Gop {
  track: Track
  units: StreamUnit[]
}

/** Buffers the most recent groups of pictures (GOPs) of a stream, limited by time and size. */
export interface GopBuffer {
  add(unit: StreamUnit, track: Track): void
  /** Ends the current GOP, because packets are missing before the next unit. */
  interrupt(): void
  /** Returns the units of the current GOP. */
  currentUnits(): readonly StreamUnit[]
  /** Returns the GOPs from the oldest to the current one. */
  gops(): readonly Gop[]
  /**
   * Removes the last GOP that matches, and all GOPs before it. If it is the current one, further
   * units are ignored until the next keyframe.
   */
  removeThrough(matches: (gop: Gop) => boolean): void
  /** Sets for how many seconds pictures are retained. The size limit may shorten this time. */
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

  /** Returns whether the GOPs after the oldest one cover the time to retain. */
  function canDropOldest(newestPts: number): boolean {
    const next = ended[1] ?? current
    const nextKeyframe = next?.units[0]
    return nextKeyframe !== undefined && nextKeyframe.pts <= newestPts - retainedTicks
  }

  function trim(newestPts: number) {
    while (ended.length > 0 && (canDropOldest(newestPts) || countBytes() > maxBytes)) ended.shift()
    if (countBytes() > maxBytes) current = undefined
  }

  const listGops = () => (current ? [...ended, current] : ended)

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
    gops: listGops,
    removeThrough(matches) {
      const lastIndex = listGops().findLastIndex(matches)
      if (lastIndex === ended.length) current = undefined
      ended.splice(0, lastIndex + 1)
    },
    retain(seconds) {
      retainedTicks = seconds * TICKS_PER_SECOND
    },
  }
}
