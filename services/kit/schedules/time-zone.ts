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

/** The offset at the beginning of a day of UTC, and its change on this day, if any. */
interface DayOffset {
  offset: number
  change: OffsetChange | undefined
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
  const readDay = createDayReader(name)

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

  /**
   * Returns when the clock would show `wall` with the offset before the change, and when with the
   * offset after it.
   */
  function findCandidates(wall: number) {
    const { changedAt, before, after } = findOffsets(wall)
    return { changedAt, withOldOffset: wall - before, withNewOffset: wall - after }
  }

  return {
    toWall(instant) {
      const { offset, change } = readDay(Math.floor(instant / DAY_MS))
      return instant + (change && instant >= change.changedAt ? change.after : offset)
    },
    firstInstant(wall) {
      const { changedAt, withOldOffset, withNewOffset } = findCandidates(wall)
      // If the clock does not reach `wall` before the change, it does so at the change or later.
      return withOldOffset < changedAt ? withOldOffset : Math.max(changedAt, withNewOffset)
    },
    endInstant(wall) {
      const { changedAt, withOldOffset, withNewOffset } = findCandidates(wall)
      // If the clock is past `wall` since the change, it was before `wall` only until then.
      return withNewOffset > changedAt ? withNewOffset : Math.min(changedAt, withOldOffset)
    },
    instantsShowing(wall) {
      const { changedAt, withOldOffset, withNewOffset } = findCandidates(wall)
      const instants = []
      if (withOldOffset < changedAt) instants.push(withOldOffset)
      if (withNewOffset >= changedAt) instants.push(withNewOffset)
      return instants
    },
  }
}

/** Creates a cached function that reads the offset on a day, by its number since 1970. */
function createDayReader(zone: string): (day: number) => DayOffset {
  const readOffset = createOffsetReader(zone)
  const cache = new Map<number, DayOffset>()

  /** Finds the change by bisection. Offsets change at full seconds, and at most once a day. */
  function findChange(day: number, before: number, after: number): OffsetChange {
    let fromS = (day * DAY_MS) / 1000
    let toS = fromS + DAY_MS / 1000
    while (toS - fromS > 1) {
      const middleS = Math.floor((fromS + toS) / 2)
      if (readOffset(middleS * 1000) === before) fromS = middleS
      else toS = middleS
    }
    return { changedAt: toS * 1000, before, after }
  }

  return day => {
    const cached = cache.get(day)
    if (cached) return cached
    if (cache.size >= MAX_CACHED_DAYS) cache.clear()
    const offset = readOffset(day * DAY_MS)
    const after = readOffset((day + 1) * DAY_MS)
    const change = offset === after ? undefined : findChange(day, offset, after)
    cache.set(day, { offset, change })
    return { offset, change }
  }
}

/**
 * Creates a function that returns the offset from UTC in ms. It parses the text of the JavaScript
 * engine, such as `3/29/2026, GMT+05:30`.
 */
function createOffsetReader(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  return instant => {
    // The text may end with GMT alone if the offset is 0. Only historical offsets have seconds.
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instant))
    const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = match ?? []
    const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -offset : offset
  }
}
