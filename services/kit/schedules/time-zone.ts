/**
 * Conversion between instants and the clock of a time zone, with the zone data of the JavaScript engine. Instants are epoch ms.
 * A wall time is what the clock shows, written as the epoch ms at which a clock in UTC shows the same.
 */
export interface TimeZone {
  toWall(instant: number): number
  /** Returns the first instant at which the clock shows `wall` or later. If `wall` is skipped, this is the moment of the change. */
  firstInstant(wall: number): number
  /** Returns the instant after which the clock never shows a time before `wall`. If `wall` is repeated, this is the second time. */
  endInstant(wall: number): number
  /** Returns the instants at which the clock shows `wall`: none if it is skipped, two if it is repeated. */
  instantsShowing(wall: number): number[]
}

export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000

// How far a clock may be ahead of UTC or behind it. Zones are at most 14 hours ahead and 12 hours behind; one hour is spare.
const MAX_AHEAD_MS = 15 * 3_600_000
const MAX_BEHIND_MS = 13 * 3_600_000
const MAX_CACHED_DAYS = 10_000

/** A change of the offset from UTC. Offsets are in ms. */
interface OffsetChange {
  /** The instant of the change. */
  at: number
  before: number
  after: number
}

const zones = new Map<string, TimeZone>()

/** Returns the zone with a name of the IANA database. Throws `RangeError` if it does not exist. */
export function getTimeZone(name: string): TimeZone {
  const zone = zones.get(name) ?? createTimeZone(name)
  zones.set(name, zone)
  return zone
}

function createTimeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  /** The offset at the beginning of each day of UTC, and its change within the day. By the number of the day since 1970. */
  const days = new Map<number, { offset: number; change: OffsetChange | undefined }>()

  function readOffset(instant: number): number {
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instant))
    const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = match ?? []
    const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -offset : offset
  }

  function readDay(day: number) {
    const cached = days.get(day)
    if (cached) return cached
    if (days.size >= MAX_CACHED_DAYS) days.clear()
    const offset = readOffset(day * DAY_MS)
    const after = readOffset((day + 1) * DAY_MS)
    const entry = { offset, change: offset === after ? undefined : findChange(day, offset, after) }
    days.set(day, entry)
    return entry
  }

  /** Finds the change by bisection. Offsets change at full seconds, and at most once a day. */
  function findChange(day: number, before: number, after: number): OffsetChange {
    let from = (day * DAY_MS) / 1000
    let to = from + DAY_MS / 1000
    while (to - from > 1) {
      const middle = Math.floor((from + to) / 2)
      if (readOffset(middle * 1000) === before) from = middle
      else to = middle
    }
    return { at: to * 1000, before, after }
  }

  /** Returns the offsets around a wall time. If the offset does not change there, the change is at minus infinity. */
  function findOffsets(wall: number): OffsetChange {
    const firstDay = Math.floor((wall - MAX_AHEAD_MS) / DAY_MS)
    const lastDay = Math.floor((wall + MAX_BEHIND_MS) / DAY_MS)
    for (let day = firstDay; day <= lastDay; day += 1) {
      const { change } = readDay(day)
      if (change) return change
    }
    const { offset } = readDay(lastDay)
    return { at: Number.NEGATIVE_INFINITY, before: offset, after: offset }
  }

  return {
    toWall(instant) {
      const { offset, change } = readDay(Math.floor(instant / DAY_MS))
      return instant + (change && instant >= change.at ? change.after : offset)
    },
    firstInstant(wall) {
      const { at, before, after } = findOffsets(wall)
      return wall - before < at ? wall - before : Math.max(at, wall - after)
    },
    endInstant(wall) {
      const { at, before, after } = findOffsets(wall)
      return wall - after > at ? wall - after : Math.min(at, wall - before)
    },
    instantsShowing(wall) {
      const { at, before, after } = findOffsets(wall)
      const instants = []
      if (wall - before < at) instants.push(wall - before)
      if (wall - after >= at) instants.push(wall - after)
      return instants
    },
  }
}
