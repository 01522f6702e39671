import type { Occurrence } from './window-timeline.ts'

/**
 * An evaluation of schedules that is independent of the product: it reads the clock of a zone
 * minute by minute with `Intl`, and simulates a cron daemon and a guard who looks at the clock.
 */

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 1440

/** What the clock of a zone shows at each minute of a period. */
export interface ClockReadings {
  /** The first minute of the period, counted from 1970 in UTC. */
  first: number
  /**
   * The reading of the clock at each minute, as the minute at which a clock in UTC shows the same.
   */
  walls: Int32Array
}

/**
 * Reads the clock every minute. In an hour without a clock change, only the first reading is made,
 * and the others are counted.
 */
export function readClock(zone: string, from: string, to: string): ClockReadings {
  const first = Date.parse(from) / MINUTE_MS
  const count = Date.parse(to) / MINUTE_MS - first
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const read = (minute: number) =>
    Date.parse(`${format.format(minute * MINUTE_MS).replace(' ', 'T')}Z`) / MINUTE_MS

  const walls = new Int32Array(count)
  let start = read(first)
  for (let hour = 0; hour < count; hour += HOUR_MINUTES) {
    const next = read(first + hour + HOUR_MINUTES)
    const isEven = next - start === HOUR_MINUTES
    for (let i = hour; i < Math.min(hour + HOUR_MINUTES, count); i += 1) {
      walls[i] = isEven ? start + i - hour : read(first + i)
    }
    start = next
  }
  return { first, walls }
}

/**
 * Returns for each minute whether a window holds: from the first reading of its start until the
 * last one before its end.
 */
export function simulateWindows(
  { walls }: ClockReadings,
  occurrences: readonly Occurrence[],
): Uint8Array {
  /** The latest reading up to each minute, and the earliest one from each minute on. */
  const latest = new Int32Array(walls.length)
  const earliest = new Int32Array(walls.length)
  for (let i = 0; i < walls.length; i += 1) latest[i] = Math.max(walls[i]!, latest[i - 1] ?? 0)
  for (let i = walls.length - 1; i >= 0; i -= 1) {
    earliest[i] = Math.min(walls[i]!, earliest[i + 1] ?? Number.MAX_SAFE_INTEGER)
  }

  const states = new Uint8Array(walls.length)
  const firstDay = Math.floor(walls[0]! / DAY_MINUTES) - 2
  const lastDay = Math.floor(walls.at(-1)! / DAY_MINUTES) + 2
  for (const occurrence of occurrences) {
    const names = occurrence.occurrence_constraint.split(',').filter(Boolean)
    const [start, end] = readTimes(occurrence)
    for (let day = firstDay; day <= lastDay; day += 1) {
      const name = new Date(day * DAY_MINUTES * MINUTE_MS).toUTCString().slice(0, 3).toLowerCase()
      if (names.length > 0 && !names.includes(name)) continue
      const from = findFirst(latest, day * DAY_MINUTES + start)
      const to = findFirst(earliest, day * DAY_MINUTES + end)
      states.fill(1, from, Math.max(from, to))
    }
  }
  return states
}

/** Returns the start and the end of a window in minutes since midnight. */
function readTimes(occurrence: Occurrence): [start: number, end: number] {
  if (occurrence.occurrence_is_allday) return [0, DAY_MINUTES]
  const toMinutes = (text: string) =>
    Number(text.slice(0, 2)) * HOUR_MINUTES + Number(text.slice(3))
  const start = toMinutes(occurrence.occurrence_start_time)
  const end = toMinutes(occurrence.occurrence_end_time)
  return [start, end > start ? end : end + DAY_MINUTES]
}

/** The first index of a sorted array whose value is at least `wall`. */
function findFirst(sorted: Int32Array, wall: number): number {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! >= wall) to = middle
    else from = middle + 1
  }
  return from
}

/** Returns for each minute whether the latest job was one that activates. Begins with `isArmed`. */
export function simulateCron(
  { walls }: ClockReadings,
  occurrences: readonly Occurrence[],
  isArmed: boolean,
): Uint8Array {
  const jobs = occurrences.flatMap(
    ({
      occurrence_activate_cron: occurrenceActivateCron,
      occurrence_deactivate_cron: occurrenceDeactivateCron,
    }) => [
      ...(occurrenceDeactivateCron ? [createJob(occurrenceDeactivateCron, false)] : []),
      ...(occurrenceActivateCron ? [createJob(occurrenceActivateCron, true)] : []),
    ],
  )
  jobs.sort((a, b) => Number(a.arms) - Number(b.arms))

  const states = new Uint8Array(walls.length)
  let state = isArmed
  let reached = walls[0]! - 1
  for (let i = 0; i < walls.length; i += 1) {
    const now = walls[i]!
    // Fixed jobs of skipped minutes run now, and fixed jobs of repeated minutes have run already.
    for (let minute = Math.min(reached + 1, now); minute <= now; minute += 1) {
      for (const job of jobs) {
        const isDue = job.isWildcard ? minute === now : minute > reached
        if (isDue && job.matches(minute)) state = job.arms
      }
    }
    reached = Math.max(reached, now)
    states[i] = Number(state)
  }
  return states
}

const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** Creates a job of the cron daemon, which arms or disarms. */
function createJob(expression: string, arms: boolean) {
  const [minutes = '', hours = '', dates = '', months = '', weekdays = ''] = expression.split(' ')
  const isMinute = parseField(minutes)
  const isHour = parseField(hours)
  const isDate = parseField(dates)
  const isMonth = parseField(months)
  const isWeekday = parseField(weekdays)
  // A job with dates and weekdays runs if either matches (crontab(5)).
  const isAlternative = dates !== '*' && weekdays !== '*'
  // The day that was matched last, because each of its minutes asks again.
  let knownDay: number | undefined
  let isOnDay = false

  function matchesDay(day: number): boolean {
    if (day === knownDay) return isOnDay
    const date = new Date(day * DAY_MINUTES * MINUTE_MS)
    const matchesDate = isDate(date.getUTCDate())
    const weekday = date.getUTCDay()
    const matchesWeekday = isWeekday(weekday) || (weekday === 0 && isWeekday(7))
    const matches = isAlternative ? matchesDate || matchesWeekday : matchesDate && matchesWeekday
    knownDay = day
    isOnDay = isMonth(date.getUTCMonth() + 1) && matches
    return isOnDay
  }

  return {
    arms,
    isWildcard: /[*/]/.test(minutes + hours),
    matches(wall: number) {
      const minute = wall % DAY_MINUTES
      return (
        isMinute(minute % HOUR_MINUTES) &&
        isHour(Math.floor(minute / HOUR_MINUTES)) &&
        matchesDay(Math.floor(wall / DAY_MINUTES))
      )
    },
  }
}

/** Parses a field such as `1,10-20/5`. Returns whether it matches a value. */
function parseField(field: string): (value: number) => boolean {
  const parts = field.split(',').map(part => {
    const [range = '', step = '1'] = part.split('/')
    const [from = '', to = from] = range.split('-')
    const toNumber = (text: string) =>
      DAY_NAMES.includes(text) ? DAY_NAMES.indexOf(text) : Number(text)
    return { isAny: range === '*', from: toNumber(from), to: toNumber(to), step: Number(step) }
  })
  return value =>
    parts.some(({ isAny, from, to, step }) =>
      isAny ? value % step === 0 : value >= from && value <= to && (value - from) % step === 0,
    )
}

/** Returns the times at which a state changes, in epoch ms. */
export function listChanges({ first }: ClockReadings, states: Uint8Array): number[] {
  const changes = []
  for (let i = 1; i < states.length; i += 1) {
    if (states[i] !== states[i - 1]) changes.push((first + i) * MINUTE_MS)
  }
  return changes
}
