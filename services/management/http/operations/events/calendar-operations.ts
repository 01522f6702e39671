import { calendarRoutes, type ManagementRoute } from '@eyrie/contract/management/index'
import { asc, eq } from 'drizzle-orm'
import { parseCalendar } from '../../../calendars/parse-calendar.ts'
import type { Database, Transaction, Work } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { calendar, site } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Principal } from '../../../rights/principal.ts'
import {
  defineLookup,
  defineMultiStepOperation,
  defineOperation,
  type Input,
} from '../../api/operation.ts'
import { assertChanged, explainDenial } from '../../api/policy-errors.ts'
import { assertReferencesExist } from '../../api/references.ts'

const MAX_LISTED_EVENTS = 100

/**
 * API operations on calendars, whose events are exceptions of schedules. `assertChanged` throws if
 * the caller may read a calendar but not change it.
 *
 * Parsing a calendar file takes time. It is done between two transactions, and both check the
 * request: the first so that a rejected request costs little, and the second because records may
 * have changed since.
 */
export const calendarOperations = (now: () => Date) => [
  defineMultiStepOperation(calendarRoutes.create, async ({ input, caller }, database) => {
    const transact = createTransact(database, caller, calendarRoutes.create)
    await transact(tx => assertValidOwner(tx, input))
    const parsed = await parseCalendar(input.calendar_ics, now())
    const calendarId = await transact(async tx => {
      await assertValidOwner(tx, input)
      const created = firstRow(
        await tx
          .insert(calendar)
          .values({ ...input, ...parsed })
          .returning({ calendar_id: calendar.calendar_id }),
      )
      return created.calendar_id
    })
    return { createdId: calendarId }
  }),

  defineMultiStepOperation(calendarRoutes.update, async ({ input, caller }, database) => {
    const transact = createTransact(database, caller, calendarRoutes.update)
    await transact(tx => assertReferencesExist(tx, calendarRoutes.update, input))
    const { calendar_id: calendarId, ...fields } = input
    const parsed = await parseCalendar(fields.calendar_ics, now())
    const updated = await transact(async tx => {
      await assertReferencesExist(tx, calendarRoutes.update, input)
      const rows = await tx
        .update(calendar)
        .set({ ...fields, ...parsed })
        .where(eq(calendar.calendar_id, calendarId))
        .returning()
      return assertChanged(rows)
    })
    return { value: toCalendar(updated) }
  }),

  defineOperation(calendarRoutes.delete, async ({ input }, tx) => {
    assertChanged(
      await tx.delete(calendar).where(eq(calendar.calendar_id, input.calendar_id)).returning(),
    )
  }),

  defineLookup(calendarRoutes.get, async ({ input }, tx) => {
    const [row] = await tx
      .select()
      .from(calendar)
      .where(eq(calendar.calendar_id, input.calendar_id))
    if (!row) return undefined
    // A date such as `2026-03-04`, which can be compared with the dates of events as text.
    const today = now().toISOString().slice(0, 10)
    const nextEvents = row.calendar_events
      .filter(({ end }) => end > today)
      .slice(0, MAX_LISTED_EVENTS)
    return {
      ...toCalendar(row),
      calendar_ics: row.calendar_ics,
      calendar_events: nextEvents.map(({ start, end, summary }) => ({
        event_start: start,
        event_end: end,
        event_summary: summary,
      })),
    }
  }),

  defineOperation(calendarRoutes.list, async ({ input }, tx) => {
    const rows = await tx
      .select()
      .from(calendar)
      .where(eq(calendar.organization_id, input.organization_id))
      .orderBy(asc(calendar.calendar_name), asc(calendar.calendar_id))
    return { value: rows.map(toCalendar) }
  }),
]

/**
 * Returns a function that runs transactions with the rights of the caller. If the rights do not
 * permit a change, the error explains why.
 */
const createTransact =
  (database: Database, caller: Principal, route: ManagementRoute) =>
  <T>(work: Work<T>): Promise<T> =>
    database.as(caller, route.path, work).catch(error => {
      throw explainDenial(error, route, caller)
    })

/**
 * Throws `EyrieError` (`syntax`) if the site of a new calendar does not belong to its organization.
 */
async function assertValidOwner(
  tx: Transaction,
  input: Input<typeof calendarRoutes.create>,
): Promise<void> {
  await assertReferencesExist(tx, calendarRoutes.create, input)
  if (input.site_id === undefined || input.site_id === null) return
  const [row] = await tx.select().from(site).where(eq(site.site_id, input.site_id))
  if (row?.organization_id !== input.organization_id) {
    throw fieldError('site_id', 'this site belongs to another organization')
  }
}

const toCalendar = (row: typeof calendar.$inferSelect) => ({
  calendar_id: row.calendar_id,
  organization_id: row.organization_id,
  site_id: row.site_id,
  calendar_name: row.calendar_name,
  calendar_event_count: row.calendar_events.length,
  calendar_events_until: row.events_until,
})
