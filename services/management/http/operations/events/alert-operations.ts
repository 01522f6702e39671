import type { Alert } from '@eyrie/contract/management/alert'
import { alertRoutes } from '@eyrie/contract/management/alert'
import { and, asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { alert, alertState, channel, usecase } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { assertStatisticKeys } from '../../../inventory/usecases.ts'
import { lookup, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const { active, create, delete: remove, disable, enable, id, list, update } = alertRoutes

type Row = typeof alert.$inferSelect

/** What a row holds, the database has been made to check. */
const shown = (row: Row) => row as Row & Alert

export const alertOperations = [
  operation(active, async ({ input: { channel_id } }, tx) => ({
    value: (await alertsOf(tx, channel_id)).filter(({ is_active }) => is_active),
  })),

  operation(create, async ({ input }, tx) => {
    await requireKey(tx, input)
    const [made] = await tx.insert(alert).values(input).returning()
    return { created: made!.alert_id }
  }),

  operation(remove, async ({ input: { alert_id } }, tx) => {
    assertChanged(await tx.delete(alert).where(eq(alert.alert_id, alert_id)).returning())
    return undefined
  }),

  operation(disable, async ({ input }, tx) => ({ value: await setActive(tx, input, false) })),

  operation(enable, async ({ input }, tx) => ({ value: await setActive(tx, input, true) })),

  lookup(id, async ({ input: { alert_id } }, tx) => {
    const [found] = await tx.select().from(alert).where(eq(alert.alert_id, alert_id))
    return found && shown(found)
  }),

  operation(list, async ({ input: { channel_id } }, tx) => ({ value: await alertsOf(tx, channel_id) })),

  operation(update, async ({ input: { alert_id, ...fields } }, tx) => {
    await requireKey(tx, fields)
    const row = assertChanged(
      await tx.update(alert).set(fields).where(eq(alert.alert_id, alert_id)).returning(),
    )
    await beginAnew(tx, alert_id)
    return { value: shown(row) }
  }),
]

async function alertsOf(tx: Transaction, channel_id: string) {
  const rows = await tx
    .select()
    .from(alert)
    .where(eq(alert.channel_id, channel_id))
    .orderBy(asc(alert.alert_name), asc(alert.alert_id))
  return rows.map(shown)
}

async function setActive(tx: Transaction, of: { alert_id: string; channel_id: string }, is_active: boolean) {
  const { alert_id, channel_id } = of
  const theirs = and(eq(alert.alert_id, alert_id), eq(alert.channel_id, channel_id))
  const [found] = await tx.select().from(alert).where(theirs)
  if (!found) throw missingRecords([{ field: 'alert_id', record: 'alert on this channel' }])
  if (found.is_active === is_active) return shown(found)
  const row = assertChanged(await tx.update(alert).set({ is_active }).where(theirs).returning())
  await beginAnew(tx, alert_id)
  return shown(row)
}

/** Whether its condition held before says nothing of it as it is now. */
const beginAnew = (tx: Transaction, alert_id: string) =>
  tx.update(alertState).set({ holds: null, looked_at: null }).where(eq(alertState.alert_id, alert_id))

/** An alert compares a statistics field, or a key that its channel's usecase has of its own. */
async function requireKey(tx: Transaction, fields: Pick<Row, 'channel_id' | 'alert_threshold_key'>) {
  const [found] = await tx
    .select({ own: usecase.usecase_aggregations })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(eq(channel.channel_id, fields.channel_id))
  assertStatisticKeys([{ field: 'alert_threshold_key', key: fields.alert_threshold_key }], found!.own)
}
