import type { Alert } from '@eyrie/contract/management/alert'
import { alertRoutes } from '@eyrie/contract/management/alert'
import { and, asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { alert, alertState, channel, usecase } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { assertStatisticKeys } from '../../../inventory/usecases.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const { active, create, delete: remove, disable, enable, id, list, update } = alertRoutes

type Row = typeof alert.$inferSelect

/** Constraints of the database ensure that a row holds a valid alert. */
const toAlert = (row: Row) => row as Row & Alert

export const alertOperations = [
  defineOperation(active, async ({ input: { channel_id } }, tx) => ({
    value: (await listAlerts(tx, channel_id)).filter(({ is_active }) => is_active),
  })),

  defineOperation(create, async ({ input }, tx) => {
    await assertThresholdKey(tx, input)
    const [created] = await tx.insert(alert).values(input).returning()
    return { created: created!.alert_id }
  }),

  defineOperation(remove, async ({ input: { alert_id } }, tx) => {
    assertChanged(await tx.delete(alert).where(eq(alert.alert_id, alert_id)).returning())
    return undefined
  }),

  defineOperation(disable, async ({ input }, tx) => ({ value: await setActive(tx, input, false) })),

  defineOperation(enable, async ({ input }, tx) => ({ value: await setActive(tx, input, true) })),

  defineLookup(id, async ({ input: { alert_id } }, tx) => {
    const [row] = await tx.select().from(alert).where(eq(alert.alert_id, alert_id))
    return row && toAlert(row)
  }),

  defineOperation(list, async ({ input: { channel_id } }, tx) => ({
    value: await listAlerts(tx, channel_id),
  })),

  defineOperation(update, async ({ input: { alert_id, ...fields } }, tx) => {
    await assertThresholdKey(tx, fields)
    const row = assertChanged(
      await tx.update(alert).set(fields).where(eq(alert.alert_id, alert_id)).returning(),
    )
    await resetState(tx, alert_id)
    return { value: toAlert(row) }
  }),
]

async function listAlerts(tx: Transaction, channel_id: string) {
  const rows = await tx
    .select()
    .from(alert)
    .where(eq(alert.channel_id, channel_id))
    .orderBy(asc(alert.alert_name), asc(alert.alert_id))
  return rows.map(toAlert)
}

async function setActive(
  tx: Transaction,
  { alert_id, channel_id }: { alert_id: string; channel_id: string },
  is_active: boolean,
) {
  const isAlert = and(eq(alert.alert_id, alert_id), eq(alert.channel_id, channel_id))
  const [current] = await tx.select().from(alert).where(isAlert)
  if (!current) throw missingRecords([{ field: 'alert_id', record: 'alert on this channel' }])
  if (current.is_active === is_active) return toAlert(current)
  const row = assertChanged(await tx.update(alert).set({ is_active }).where(isAlert).returning())
  await resetState(tx, alert_id)
  return toAlert(row)
}

/** Discards whether the condition held, because the alert has changed. */
const resetState = (tx: Transaction, alert_id: string) =>
  tx.update(alertState).set({ holds: null, looked_at: null }).where(eq(alertState.alert_id, alert_id))

/** The key must be a statistic, or an aggregation that the channel's usecase defines. */
async function assertThresholdKey(tx: Transaction, fields: Pick<Row, 'channel_id' | 'alert_threshold_key'>) {
  const [row] = await tx
    .select({ own: usecase.usecase_aggregations })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(eq(channel.channel_id, fields.channel_id))
  assertStatisticKeys([{ field: 'alert_threshold_key', key: fields.alert_threshold_key }], row!.own)
}
