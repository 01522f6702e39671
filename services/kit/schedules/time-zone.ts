/**
 * Conversion between instants and the clock of a time zone, with the zone data of the JavaScript engine. Instants are epoch ms.
 * A wall time is what the clock shows, written as the epoch ms at which a clock in UTC shows the same.
 */
export interface TimeZone {
  toWall(instant: number): number
  /** The first instant at which the clock shows `wall` or later: of a skipped time, the moment of the change. */
  firstInstant(wall: number): number
  /** The end of the last moment at which the clock shows a time before `wall`. Of a repeated time, that is the second one. */
  endInstant(wall: number): number
  /** The instants at which the clock shows `wall`: none if it is skipped, two if it is repeated. */
  instantsShowing(wall: number): number[]
}

export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000

/** A wall time lies within this distance of its instant, because zones are at most 14 hours ahead and 12 behind. */
const AHEAD_MS = 15 * 3_600_000
const BEHIND_MS = 13 * 3_600_000
const MAX_CACHED_DAYS = 10_000

/** A change of the offset from UTC. */
interface OffsetChange {
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
  /** The change within each day of UTC, and the offset at its beginning. */
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

  /** Returns the offsets around a wall time. Without a change, the change is at the beginning of time. */
  function findOffsets(wall: number): OffsetChange {
    const firstDay = Math.floor((wall - AHEAD_MS) / DAY_MS)
    const lastDay = Math.floor((wall + BEHIND_MS) / DAY_MS)
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
