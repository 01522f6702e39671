/** A calendar day in the time zone of the browser. It may have 23 or 25 hours. */
export interface CalendarDay {
  /** `2026-03-29`. */
  text: string
  /** First moment of the day and of the next day, in ms since 1970. */
  from: number
  to: number
}

const HOUR_MS = 3_600_000
const pad = (value: number) => String(value).padStart(2, '0')

/** Returns the day that contains this time. */
export function getDay(timeMs: number): CalendarDay {
  const date = new Date(timeMs)
  return createDay(date.getFullYear(), date.getMonth(), date.getDate())
}

/** Parses `2026-03-29`. Returns undefined for any other text. */
export function parseDay(text: string): CalendarDay | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || date === undefined) return undefined
  const day = createDay(year, month - 1, date)
  return day.text === text ? day : undefined
}

export function addDays({ from }: CalendarDay, days: number): CalendarDay {
  const date = new Date(from)
  return createDay(date.getFullYear(), date.getMonth(), date.getDate() + days)
}

function createDay(year: number, month: number, date: number): CalendarDay {
  const [from, to] = [new Date(year, month, date), new Date(year, month, date + 1)]
  const text = `${from.getFullYear()}-${pad(from.getMonth() + 1)}-${pad(from.getDate())}`
  return { text, from: from.getTime(), to: to.getTime() }
}

/** Whether clocks change on this day, so that times need their offset from UTC. */
export const hasClockChange = ({ from, to }: CalendarDay) => to - from !== 24 * HOUR_MS

/** Returns undefined on a day of 24 hours. */
export function describeClockChange(day: CalendarDay): string | undefined {
  if (!hasClockChange(day)) return undefined
  const hours = (day.to - day.from) / HOUR_MS
  return `Clocks go ${hours < 24 ? 'forward' : 'back'} on this day (${hours} hours)`
}

/** The offset of local time from UTC: `+02:00`. */
export function formatUtcOffset(timeMs: number): string {
  const minutes = -new Date(timeMs).getTimezoneOffset()
  const absolute = Math.abs(minutes)
  return `${minutes < 0 ? '−' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`
}
