/**
 * Converts between instants and the clock of a time zone, with the zone data of the JavaScript
 * engine. Instants are epoch ms. A wall time is what the clock shows, written as the epoch ms at
 * which a clock in UTC shows the same.
 *
 * A clock that is put forward skips wall times, and a clock that is put back repeats some.
 */
export interface TimeZone {
  toWall(instant: number): number
  /**
   * Returns the first instant at which the clock shows `wall` or later. If `wall` is skipped, this
   * is the moment of the change.
   */
  firstInstant(wall: number): number
  /**
   * Returns the instant after which the clock never shows a time before `wall`. If `wall` is
   * repeated, this is the second time.
   */
  endInstant(wall: number): number
  /**
   * Returns the instants at which the clock shows `wall`: none if it is skipped, two if it is
   * repeated.
   */
  instantsShowing(wall: number): number[]
}

export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000

// How far a clock may be ahead of UTC or behind it. Zones are at most 14 hours ahead and 12 hours
// behind; one hour is spare.
const MAX_AHEAD_MS = 15 * 3_600_000
const MAX_BEHIND_MS = 13 * 3_600_000
const MAX_CACHED_DAYS = 10_000

/** A change of the offset from UTC. Offsets are in ms. */
interface OffsetChange {
  changedAt: number
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

/** Returns the day that the clock shows at an instant. Days are numbered from 1 January 1970. */
export const toDay = (instant: number, zone: TimeZone) => Math.floor(zone.toWall(instant) / DAY_MS)

function createTimeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  /**
   * For each day of UTC, by its number since 1970: the offset at its beginning, and the change of
   * the offset on this day, if any.
   */
  const days = new Map<number, { offset: number; change: OffsetChange | undefined }>()

  /**
   * Returns the offset from UTC in ms, as the JavaScript engine formats it, such as `GMT+05:30`.
   */
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
    return { changedAt: to * 1000, before, after }
  }

  /**
   * Returns the offsets before and after the change near a wall time. Without one, the change
   * is at minus infinity.
   */
  function findOffsets(wall: number): OffsetChange {
    const firstDay = Math.floor((wall - MAX_AHEAD_MS) / DAY_MS)
    const lastDay = Math.floor((wall + MAX_BEHIND_MS) / DAY_MS)
    for (let day = firstDay; day <= lastDay; day += 1) {
      const { change } = readDay(day)
      if (change) return change
    }
    const { offset } = readDay(lastDay)
    return { changedAt: Number.NEGATIVE_INFINITY, before: offset, after: offset }
  }

  return {
    toWall(instant) {
      const { offset, change } = readDay(Math.floor(instant / DAY_MS))
      return instant + (change && instant >= change.changedAt ? change.after : offset)
    },
    firstInstant(wall) {
      const { changedAt, before, after } = findOffsets(wall)
      return wall - before < changedAt ? wall - before : Math.max(changedAt, wall - after)
    },
    endInstant(wall) {
      const { changedAt, before, after } = findOffsets(wall)
      return wall - after > changedAt ? wall - after : Math.min(changedAt, wall - before)
    },
    instantsShowing(wall) {
      const { changedAt, before, after } = findOffsets(wall)
      const instants = []
      if (wall - before < changedAt) instants.push(wall - before)
      if (wall - after >= changedAt) instants.push(wall - after)
      return instants
    },
  }
}
