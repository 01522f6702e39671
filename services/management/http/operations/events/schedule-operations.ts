import { type Schedule, scheduleRoutes } from '@eyrie/contract/management/schedule'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { alert, schedule } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { numberItems } from '../../api/item-numbers.ts'
import { lookup, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const { create, update, delete: remove, id, list } = scheduleRoutes

type Row = typeof schedule.$inferSelect

const shown = (row: Row) => row as Row & Schedule

export const scheduleOperations = [
  operation(create, async ({ input: { schedule_occurrence, ...fields } }, tx) => {
    await requireSameChannel(tx, fields)
    const values = { ...fields, schedule_occurrence: numberItems('occurrence_id', schedule_occurrence) }
    const [made] = await tx.insert(schedule).values(values).returning()
    return { created: made!.schedule_id }
  }),

  operation(update, async ({ input: { schedule_id, schedule_occurrence, ...fields } }, tx) => {
    await requireSameChannel(tx, fields)
    const values = { ...fields, schedule_occurrence: numberItems('occurrence_id', schedule_occurrence) }
    const rows = await tx
      .update(schedule)
      .set(values)
      .where(eq(schedule.schedule_id, schedule_id))
      .returning()
    return { value: shown(assertChanged(rows)) }
  }),

  operation(remove, async ({ input: { schedule_id } }, tx) => {
    assertChanged(await tx.delete(schedule).where(eq(schedule.schedule_id, schedule_id)).returning())
    return undefined
  }),

  lookup(id, async ({ input: { schedule_id } }, tx) => {
    const [found] = await tx.select().from(schedule).where(eq(schedule.schedule_id, schedule_id))
    return found && shown(found)
  }),

  operation(list, async ({ input: { channel_id } }, tx) => {
    const rows = await tx
      .select()
      .from(schedule)
      .where(eq(schedule.channel_id, channel_id))
      .orderBy(asc(schedule.schedule_name), asc(schedule.schedule_id))
    return { value: rows.map(shown) }
  }),
]

async function requireSameChannel(
  tx: Transaction,
  { alert_id, channel_id }: Pick<Row, 'alert_id' | 'channel_id'>,
) {
  const [found] = await tx.select().from(alert).where(eq(alert.alert_id, alert_id))
  if (found?.channel_id === channel_id) return
  throw fieldError('alert_id', 'this alert is of another channel')
}
