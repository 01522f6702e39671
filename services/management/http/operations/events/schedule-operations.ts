import { type Schedule, scheduleRoutes } from '@eyrie/contract/management/schedule'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { alert, schedule } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { assignMissingNumbers } from '../../api/assign-numbers.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = scheduleRoutes

type ScheduleRow = typeof schedule.$inferSelect

/** Narrows the types of the columns. The cast is safe, because only validated schedules are stored. */
const toSchedule = (row: ScheduleRow) => row as ScheduleRow & Schedule

/**
 * API operations on schedules. A schedule contains the times at which an alert of a channel is enabled and
 * disabled. `assertChanged` throws if the caller may read a schedule but not change it.
 */
export const scheduleOperations = [
  defineOperation(routes.create, async ({ input: { schedule_occurrence, ...fields } }, tx) => {
    await assertAlertOnChannel(tx, fields)
    const occurrences = assignMissingNumbers('occurrence_id', schedule_occurrence)
    const values = { ...fields, schedule_occurrence: occurrences }
    const [created] = await tx.insert(schedule).values(values).returning()
    return { created: created!.schedule_id }
  }),

  defineOperation(routes.update, async ({ input: { schedule_id, schedule_occurrence, ...fields } }, tx) => {
    await assertAlertOnChannel(tx, fields)
    const occurrences = assignMissingNumbers('occurrence_id', schedule_occurrence)
    const values = { ...fields, schedule_occurrence: occurrences }
    const rows = await tx
      .update(schedule)
      .set(values)
      .where(eq(schedule.schedule_id, schedule_id))
      .returning()
    return { value: toSchedule(assertChanged(rows)) }
  }),

  defineOperation(routes.delete, async ({ input: { schedule_id } }, tx) => {
    assertChanged(await tx.delete(schedule).where(eq(schedule.schedule_id, schedule_id)).returning())
    return undefined
  }),

  defineLookup(routes.id, async ({ input: { schedule_id } }, tx) => {
    const [row] = await tx.select().from(schedule).where(eq(schedule.schedule_id, schedule_id))
    return row && toSchedule(row)
  }),

  defineOperation(routes.list, async ({ input: { channel_id } }, tx) => {
    const rows = await tx
      .select()
      .from(schedule)
      .where(eq(schedule.channel_id, channel_id))
      .orderBy(asc(schedule.schedule_name), asc(schedule.schedule_id))
    return { value: rows.map(toSchedule) }
  }),
]

/** Throws `EyrieError` (`syntax`) if the alert belongs to another channel. */
async function assertAlertOnChannel(
  tx: Transaction,
  { alert_id, channel_id }: Pick<ScheduleRow, 'alert_id' | 'channel_id'>,
) {
  const [row] = await tx.select().from(alert).where(eq(alert.alert_id, alert_id))
  if (row?.channel_id === channel_id) return
  throw fieldError('alert_id', 'this alert belongs to another channel')
}
