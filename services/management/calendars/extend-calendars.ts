import type { Log } from '@eyrie/kit'
import { and, eq, lt } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { calendar } from '../db/schema/index.ts'
import { parseCalendar } from './parse-calendar.ts'

/** Occurrences of recurring events are stored for at least so long. */
const MIN_FUTURE_MS = 4 * 366 * 86_400_000

/** Stores later occurrences of recurring events, before the stored ones end. */
export async function extendCalendars(database: Database, now: Date, log: Log): Promise<void> {
  const until = new Date(now.getTime() + MIN_FUTURE_MS)
  const rows = await database.system('calendars', tx =>
    tx.select().from(calendar).where(lt(calendar.events_until, until)),
  )
  for (const { calendar_id: calendarId, calendar_ics: calendarIcs } of rows) {
    try {
      const parsed = await parseCalendar(calendarIcs, now)
      // Another file may have been uploaded meanwhile.
      const isUnchanged = and(
        eq(calendar.calendar_id, calendarId),
        eq(calendar.calendar_ics, calendarIcs),
      )
      await database.system('calendars', tx => tx.update(calendar).set(parsed).where(isUnchanged))
    } catch (err) {
      // The stored occurrences remain, and the others are extended.
      log.warn({ err, calendar_id: calendarId }, 'failed to extend calendar')
    }
  }
}
