import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { calendar, channel, schedule, scheduleException, site } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.scheduleException

/** API operations on exceptions of schedules. `assertChanged` throws if the caller may read an exception but not change it. */
export const scheduleExceptionOperations = [
  defineOperation(routes.create, async ({ input }, tx) => {
    await assertCalendarOfSite(tx, input)
    const rows = await tx.insert(scheduleException).values(input).onConflictDoNothing().returning()
    if (rows.length === 0)
      throw fieldError('calendar_id', 'the schedule has an exception with this calendar already', {
        code: 'conflict',
      })
    return { created: rows[0]!.exception_id }
  }),

  defineOperation(routes.delete, async ({ input: { exception_id } }, tx) => {
    const hasId = eq(scheduleException.exception_id, exception_id)
    assertChanged(await tx.delete(scheduleException).where(hasId).returning())
    return undefined
  }),

  defineLookup(routes.id, async ({ input: { exception_id } }, tx) => {
    const [row] = await tx
      .select()
      .from(scheduleException)
      .where(eq(scheduleException.exception_id, exception_id))
    return row
  }),

  defineOperation(routes.list, async ({ input: { schedule_id } }, tx) => ({
    value: await tx
      .select()
      .from(scheduleException)
      .where(eq(scheduleException.schedule_id, schedule_id))
      .orderBy(asc(scheduleException.exception_id)),
  })),
]

/** Throws `EyrieError` (`syntax`) if the calendar serves neither the site of the schedule nor its organization. */
async function assertCalendarOfSite(
  tx: Transaction,
  { schedule_id, calendar_id }: { schedule_id: string; calendar_id: string },
) {
  const [owner] = await tx.select().from(calendar).where(eq(calendar.calendar_id, calendar_id))
  const [place] = await tx
    .select({ site_id: channel.site_id, organization_id: site.organization_id })
    .from(schedule)
    .innerJoin(channel, eq(channel.channel_id, schedule.channel_id))
    .innerJoin(site, eq(site.site_id, channel.site_id))
    .where(eq(schedule.schedule_id, schedule_id))
  // A caller who may only see the channel does not see the site, and may not change the schedule.
  if (!owner || !place) return
  const isServed = owner.site_id === null || owner.site_id === place.site_id
  if (!isServed || owner.organization_id !== place.organization_id)
    throw fieldError('calendar_id', 'this calendar belongs to another site or organization')
}
