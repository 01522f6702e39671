import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, eq } from 'drizzle-orm'
import { parseCalendar } from '../../../calendars/parse-calendar.ts'
import type { Database, Work } from '../../../db/database.ts'
import { calendar, site } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Principal } from '../../../rights/principal.ts'
import { defineLookup, defineMultiStepOperation, defineOperation } from '../../api/operation.ts'
import { explainDenial } from '../../api/policy-errors.ts'
import { assertChanged, assertReferencesExist } from '../../api/references.ts'

const routes = managementRoutes.calendar

const MAX_LISTED_EVENTS = 100

/**
 * API operations on calendars, which are exceptions of schedules. The files are read before the transaction, because that takes
 * time. `assertChanged` throws if the caller may read a calendar but not change it.
 */
export const calendarOperations = (now: () => Date) => [
  defineMultiStepOperation(routes.create, async (call, database) => {
    const { input } = call
    const { site_id = null, organization_id } = input
    const assertSite: Work<void> = async tx => {
      await assertReferencesExist(tx, routes.create, input)
      if (site_id === null) return
      const [row] = await tx.select().from(site).where(eq(site.site_id, site_id))
      if (row?.organization_id !== organization_id)
        throw fieldError('site_id', 'this site belongs to another organization')
    }
    await runAs(database, call, routes.create, assertSite)
    const parsed = await parseCalendar(input.calendar_ics, now())
    const created = await runAs(database, call, routes.create, async tx => {
      await assertSite(tx)
      return tx
        .insert(calendar)
        .values({ ...input, site_id, ...parsed })
        .returning({ calendar_id: calendar.calendar_id })
    })
    return { created: created[0]!.calendar_id }
  }),

  defineMultiStepOperation(routes.update, async (call, database) => {
    const { calendar_id, ...fields } = call.input
    const assertExists: Work<void> = tx => assertReferencesExist(tx, routes.update, call.input)
    await runAs(database, call, routes.update, assertExists)
    const parsed = await parseCalendar(fields.calendar_ics, now())
    const row = await runAs(database, call, routes.update, async tx => {
      await assertExists(tx)
      const hasId = eq(calendar.calendar_id, calendar_id)
      const rows = await tx
        .update(calendar)
        .set({ ...fields, ...parsed })
        .where(hasId)
        .returning()
      return assertChanged(rows)
    })
    return { value: toCalendar(row) }
  }),

  defineOperation(routes.delete, async ({ input: { calendar_id } }, tx) => {
    assertChanged(await tx.delete(calendar).where(eq(calendar.calendar_id, calendar_id)).returning())
    return undefined
  }),

  defineLookup(routes.id, async ({ input: { calendar_id } }, tx) => {
    const [row] = await tx.select().from(calendar).where(eq(calendar.calendar_id, calendar_id))
    if (!row) return undefined
    const today = now().toISOString().slice(0, 10)
    const next = row.calendar_events.filter(({ end }) => end > today).slice(0, MAX_LISTED_EVENTS)
    return {
      ...toCalendar(row),
      calendar_ics: row.calendar_ics,
      calendar_events: next.map(({ start, end, summary }) => ({
        event_start: start,
        event_end: end,
        event_summary: summary,
      })),
    }
  }),

  defineOperation(routes.list, async ({ input: { organization_id } }, tx) => {
    const rows = await tx
      .select()
      .from(calendar)
      .where(eq(calendar.organization_id, organization_id))
      .orderBy(asc(calendar.calendar_name), asc(calendar.calendar_id))
    return { value: rows.map(toCalendar) }
  }),
]

/** Runs a transaction with the rights of the caller. */
const runAs = <T>(
  database: Database,
  { caller }: { caller: Principal },
  route: Parameters<typeof explainDenial>[1],
  work: Work<T>,
): Promise<T> =>
  database.as(caller, route.path, work).catch(error => {
    throw explainDenial(error, route, caller)
  })

const toCalendar = (row: typeof calendar.$inferSelect) => ({
  calendar_id: row.calendar_id,
  organization_id: row.organization_id,
  site_id: row.site_id,
  calendar_name: row.calendar_name,
  calendar_event_count: row.calendar_events.length,
  calendar_events_until: row.events_until,
})
