import ical, { type CalendarComponent, type EventInstance, type VEvent } from 'node-ical'
import type { CalendarOccurrence } from '../db/schema/index.ts'

const MAX_EVENTS = 2_000
const MAX_OCCURRENCES = 5_000
const MAX_SUMMARY_LENGTH = 200
const DAY_LENGTH = '2026-01-31'.length
const LOCAL_TIME_LENGTH = '2026-01-31T08:00:00'.length
/** Recurrences that have more than one occurrence a day by themselves. */
const RAPID_FREQUENCIES = /^RRULE[^\r\n]*FREQ=(HOURLY|MINUTELY|SECONDLY)/im

/**
 * Returns the occurrences between two times of all events in an iCalendar file, including recurring
 * events. Throws an `Error` with a message for the user if the file is not supported. The time zone
 * of the process must be UTC, because the library converts local times with it.
 */
export function expandCalendar(ics: string, from: Date, until: Date): CalendarOccurrence[] {
  const rapid = RAPID_FREQUENCIES.exec(ics)?.[1]
  if (rapid) throw new Error(`events that recur with FREQ=${rapid.toUpperCase()} are not supported`)

  const events = Object.values(ical.sync.parseICS(ics)).filter(isEvent)
  if (events.length === 0) throw new Error('the file contains no events')
  if (events.length > MAX_EVENTS) {
    throw new Error(`the file has ${events.length} events, and at most ${MAX_EVENTS} are supported`)
  }

  const occurrences: CalendarOccurrence[] = []
  for (const event of events) {
    assertSupported(event)
    const instances = ical.expandRecurringEvent(event, { from, to: until, expandOngoing: true })
    const active = instances.filter(instance => instance.event.status !== 'CANCELLED')
    occurrences.push(...active.map(toOccurrence).filter(({ start, end }) => start < end))
    if (occurrences.length > MAX_OCCURRENCES) {
      throw new Error(`the events occur more than ${MAX_OCCURRENCES} times in the next years`)
    }
  }
  return occurrences.toSorted((a, b) => (a.start < b.start ? -1 : 1))
}

const isEvent = (component: CalendarComponent | undefined): component is VEvent =>
  component?.type === 'VEVENT'

function assertSupported(event: VEvent): void {
  const name = `the event ${JSON.stringify(readSummary(event.summary))}`
  if (!(event.start instanceof Date) || Number.isNaN(event.start.getTime())) {
    throw new Error(`${name} has no valid DTSTART`)
  }
  if (event.rdate !== undefined) {
    throw new Error(
      `${name} has an RDATE, which is not supported: add an event for each of its dates`,
    )
  }
  if (event.start.tz && !isKnownZone(event.start.tz)) {
    throw new Error(`${name} has the unknown time zone ${event.start.tz}`)
  }
}

function isKnownZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

/**
 * Converts the times of an occurrence to text. Times with a time zone are converted to UTC. Dates,
 * and times without a time zone, remain local to the site that uses the calendar.
 */
function toOccurrence({ start, end, summary, isFullDay }: EventInstance): CalendarOccurrence {
  const format = (time: Date) => {
    const text = time.toISOString()
    if (isFullDay) return text.slice(0, DAY_LENGTH)
    return start.tz ? text : text.slice(0, LOCAL_TIME_LENGTH)
  }
  return { start: format(start), end: format(end), summary: readSummary(summary) }
}

/**
 * Returns the title of an event. The library returns an object if the title has
 * parameters, such as a language.
 */
function readSummary(summary: VEvent['summary'] | undefined): string {
  const title = typeof summary === 'object' ? summary.val : summary
  // The limit may cut a character in two.
  return String(title ?? '')
    .slice(0, MAX_SUMMARY_LENGTH)
    .toWellFormed()
}
