import { type Schedule, scheduleRoutes } from '@eyrie/contract/management/schedule'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { alert, schedule } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { assignMissingNumbers } from '../../api/assign-numbers.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const { create, update, delete: remove, id, list } = scheduleRoutes

type Row = typeof schedule.$inferSelect

const toSchedule = (row: Row) => row as Row & Schedule

export const scheduleOperations = [
  defineOperation(create, async ({ input: { schedule_occurrence, ...fields } }, tx) => {
    await assertAlertOnChannel(tx, fields)
    const values = {
      ...fields,
      schedule_occurrence: assignMissingNumbers('occurrence_id', schedule_occurrence),
    }
    const [created] = await tx.insert(schedule).values(values).returning()
    return { created: created!.schedule_id }
  }),

  defineOperation(update, async ({ input: { schedule_id, schedule_occurrence, ...fields } }, tx) => {
    await assertAlertOnChannel(tx, fields)
    const values = {
      ...fields,
      schedule_occurrence: assignMissingNumbers('occurrence_id', schedule_occurrence),
    }
    const rows = await tx
      .update(schedule)
      .set(values)
      .where(eq(schedule.schedule_id, schedule_id))
      .returning()
    return { value: toSchedule(assertChanged(rows)) }
  }),

  defineOperation(remove, async ({ input: { schedule_id } }, tx) => {
    assertChanged(await tx.delete(schedule).where(eq(schedule.schedule_id, schedule_id)).returning())
    return undefined
  }),

  defineLookup(id, async ({ input: { schedule_id } }, tx) => {
    const [row] = await tx.select().from(schedule).where(eq(schedule.schedule_id, schedule_id))
    return row && toSchedule(row)
  }),

  defineOperation(list, async ({ input: { channel_id } }, tx) => {
    const rows = await tx
      .select()
      .from(schedule)
      .where(eq(schedule.channel_id, channel_id))
      .orderBy(asc(schedule.schedule_name), asc(schedule.schedule_id))
    return { value: rows.map(toSchedule) }
  }),
]

async function assertAlertOnChannel(
  tx: Transaction,
  { alert_id, channel_id }: Pick<Row, 'alert_id' | 'channel_id'>,
) {
  const [row] = await tx.select().from(alert).where(eq(alert.alert_id, alert_id))
  if (row?.channel_id === channel_id) return
  throw fieldError('alert_id', 'this alert belongs to another channel')
}
