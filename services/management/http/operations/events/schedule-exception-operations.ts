import { scheduleExceptionRoutes } from '@eyrie/contract/management/index'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { calendar, channel, schedule, scheduleException, site } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

const ALREADY_EXISTS = 'the schedule has an exception with this calendar already'

/**
 * API operations on exceptions of schedules. `assertChanged` throws if the caller may read an
 * exception but not change it.
 */
export const scheduleExceptionOperations = [
  defineOperation(scheduleExceptionRoutes.create, async ({ input }, tx) => {
    await assertCalendarOfSite(tx, input)
    const [created] = await tx
      .insert(scheduleException)
      .values(input)
      .onConflictDoNothing()
      .returning()
    if (!created) throw fieldError('calendar_id', ALREADY_EXISTS, { code: 'conflict' })
    return { createdId: created.exception_id }
  }),

  defineOperation(scheduleExceptionRoutes.delete, async ({ input }, tx) => {
    const condition = eq(scheduleException.exception_id, input.exception_id)
    assertChanged(await tx.delete(scheduleException).where(condition).returning())
  }),

  defineLookup(scheduleExceptionRoutes.get, async ({ input }, tx) => {
    const [row] = await tx
      .select()
      .from(scheduleException)
      .where(eq(scheduleException.exception_id, input.exception_id))
    return row
  }),

  defineOperation(scheduleExceptionRoutes.list, async ({ input }, tx) => ({
    value: await tx
      .select()
      .from(scheduleException)
      .where(eq(scheduleException.schedule_id, input.schedule_id))
      .orderBy(asc(scheduleException.exception_id)),
  })),
]

/**
 * Throws `EyrieError` (`syntax`) unless the calendar is for the site of the schedule, or for all
 * sites of its organization.
 */
async function assertCalendarOfSite(
  tx: Transaction,
  {
    schedule_id: scheduleId,
    calendar_id: calendarId,
  }: { schedule_id: string; calendar_id: string },
) {
  const [calendarRow] = await tx.select().from(calendar).where(eq(calendar.calendar_id, calendarId))
  const [location] = await tx
    .select({ site_id: channel.site_id, organization_id: site.organization_id })
    .from(schedule)
    .innerJoin(channel, eq(channel.channel_id, schedule.channel_id))
    .innerJoin(site, eq(site.site_id, channel.site_id))
    .where(eq(schedule.schedule_id, scheduleId))
  // A caller who may only see the channel does not see the site, and may not change the schedule.
  if (!calendarRow || !location) return
  const isForSite = calendarRow.site_id === null || calendarRow.site_id === location.site_id
  if (!isForSite || calendarRow.organization_id !== location.organization_id) {
    throw fieldError('calendar_id', 'this calendar belongs to another site or organization')
  }
}
