/** A day of the calendar where the viewer is. It may have 23 or 25 hours. */
export interface Day {
  /** `2026-03-29`. */
  text: string
  /** ms since 1970; what comes first in the day, and in the next one. */
  from: number
  to: number
}

const HOUR_MS = 3_600_000
const pad = (value: number) => String(value).padStart(2, '0')

export function dayAt(timeMs: number): Day {
  const date = new Date(timeMs)
  return dayOf(date.getFullYear(), date.getMonth(), date.getDate())
}

/** Undefined where the text names no day. */
export function dayNamed(text: string): Day | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || date === undefined) return undefined
  const day = dayOf(year, month - 1, date)
  return day.text === text ? day : undefined
}

/** So many days later, by the calendar. */
export function dayAfter({ from }: Day, days: number): Day {
  const date = new Date(from)
  return dayOf(date.getFullYear(), date.getMonth(), date.getDate() + days)
}

function dayOf(year: number, month: number, date: number): Day {
  const [from, to] = [new Date(year, month, date), new Date(year, month, date + 1)]
  const text = `${from.getFullYear()}-${pad(from.getMonth() + 1)}-${pad(from.getDate())}`
  return { text, from: from.getTime(), to: to.getTime() }
}

/** What the clocks do on this day, where they do anything. */
export function clockChange({ from, to }: Day): string | undefined {
  const hours = (to - from) / HOUR_MS
  if (hours === 24) return undefined
  return `The clocks go ${hours < 24 ? 'forward' : 'back'} on this day: it has ${hours} hours`
}

/** How far the clocks are ahead of UTC: `+02:00`. */
export function offsetText(timeMs: number): string {
  const minutes = -new Date(timeMs).getTimezoneOffset()
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '−' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}
