/** A calendar day in the browser's time zone. It has 23 or 25 hours if clocks change. */
export interface CalendarDay {
  /** For example `2026-03-29`. */
  text: string
  /** Start of the day and of the next day, in ms since 1970. */
  from: number
  to: number
}

const HOUR_MS = 3_600_000

/** Returns the day that contains this time. */
export function getDay(timeMs: number): CalendarDay {
  const date = new Date(timeMs)
  return createDay(date.getFullYear(), date.getMonth(), date.getDate())
}

/** Parses `2026-03-29`. Returns undefined for any other text. */
export function parseDay(text: string): CalendarDay | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!match) return undefined
  const [, year, month, date] = match
  const day = createDay(Number(year), Number(month) - 1, Number(date))
  // `Date` accepts dates that do not exist, such as February 30, and returns a later day.
  return day.text === text ? day : undefined
}

export function addDays({ from }: CalendarDay, days: number): CalendarDay {
  const date = new Date(from)
  return createDay(date.getFullYear(), date.getMonth(), date.getDate() + days)
}

export const isInDay = (timeMs: number, { from, to }: CalendarDay) => timeMs >= from && timeMs < to

/**
 * Returns the later day that playback has entered, if it was in `day` before. It may have skipped
 * hours without recordings. Returns undefined if playback was outside `day`: the user has then just
 * selected it.
 */
export function findEnteredDay(
  day: CalendarDay,
  previousMs: number | undefined,
  timeMs: number,
): CalendarDay | undefined {
  const wasInDay = previousMs !== undefined && isInDay(previousMs, day)
  return wasInDay && timeMs >= day.to ? getDay(timeMs) : undefined
}

/**
 * Creates a day from the numbers that `Date` uses: months begin with 0, and a date may
 * be outside the month.
 */
function createDay(year: number, month: number, date: number): CalendarDay {
  const from = new Date(year, month, date)
  const to = new Date(year, month, date + 1)
  const text = `${from.getFullYear()}-${padTwoDigits(from.getMonth() + 1)}-${padTwoDigits(from.getDate())}`
  return { text, from: from.getTime(), to: to.getTime() }
}

/** Whether clocks change on this day, so that a local time may be ambiguous. */
export const hasClockChange = ({ from, to }: CalendarDay) => to - from !== 24 * HOUR_MS

/** Describes a clock change for the user. Returns undefined on a day of 24 hours. */
export function describeClockChange(day: CalendarDay): string | undefined {
  if (!hasClockChange(day)) return undefined
  const hours = (day.to - day.from) / HOUR_MS
  return `Clocks go ${hours < 24 ? 'forward' : 'back'} on this day (${hours} hours)`
}

/** Formats the offset of local time from UTC: `+02:00`. */
export function formatUtcOffset(timeMs: number): string {
  const offsetMinutes = -new Date(timeMs).getTimezoneOffset()
  const sign = offsetMinutes < 0 ? '−' : '+'
  const hours = Math.floor(Math.abs(offsetMinutes) / 60)
  const minutes = Math.abs(offsetMinutes) % 60
  return `${sign}${padTwoDigits(hours)}:${padTwoDigits(minutes)}`
}

const padTwoDigits = (number: number) => String(number).padStart(2, '0')
