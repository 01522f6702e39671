import type { Alert } from '@eyrie/contract/management/alert'
import { alertRoutes } from '@eyrie/contract/management/alert'
import { and, asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { alert, alertState, channel, usecase } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { assertStatisticKeys } from '../../../inventory/usecases.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

type AlertRow = typeof alert.$inferSelect

/**
 * Narrows the types of the columns. The cast is safe, because constraints of the database
 * admit only valid alerts.
 */
const toAlert = (row: AlertRow) => row as AlertRow & Alert

/**
 * API operations on alerts. An alert is a condition on a statistic of a channel. While it
 * holds, the alert triggers notifications. `assertChanged` throws if the caller may read an
 * alert but not change it.
 */
export const alertOperations = [
  defineOperation(alertRoutes.listActive, async ({ input }, tx) => {
    const alerts = await listAlerts(tx, input.channel_id)
    return { value: alerts.filter(({ is_active }) => is_active) }
  }),

  defineOperation(alertRoutes.create, async ({ input }, tx) => {
    await assertThresholdKey(tx, input)
    const created = firstRow(await tx.insert(alert).values(input).returning())
    return { createdId: created.alert_id }
  }),

  defineOperation(alertRoutes.delete, async ({ input }, tx) => {
    assertChanged(await tx.delete(alert).where(eq(alert.alert_id, input.alert_id)).returning())
  }),

  defineOperation(alertRoutes.disable, async ({ input }, tx) => ({
    value: await setActive(tx, input, false),
  })),

  defineOperation(alertRoutes.enable, async ({ input }, tx) => ({
    value: await setActive(tx, input, true),
  })),

  defineLookup(alertRoutes.get, async ({ input }, tx) => {
    const [row] = await tx.select().from(alert).where(eq(alert.alert_id, input.alert_id))
    return row && toAlert(row)
  }),

  defineOperation(alertRoutes.list, async ({ input }, tx) => ({
    value: await listAlerts(tx, input.channel_id),
  })),

  defineOperation(alertRoutes.update, async ({ input }, tx) => {
    const { alert_id: alertId, ...fields } = input
    await assertThresholdKey(tx, fields)
    const row = assertChanged(
      await tx.update(alert).set(fields).where(eq(alert.alert_id, alertId)).returning(),
    )
    await resetState(tx, alertId)
    return { value: toAlert(row) }
  }),
]

async function listAlerts(tx: Transaction, channelId: string) {
  const rows = await tx
    .select()
    .from(alert)
    .where(eq(alert.channel_id, channelId))
    .orderBy(asc(alert.alert_name), asc(alert.alert_id))
  return rows.map(toAlert)
}

/**
 * Enables or disables an alert of a channel. Throws `EyrieError` (`id`) if the
 * channel has no such alert.
 */
async function setActive(
  tx: Transaction,
  { alert_id: alertId, channel_id: channelId }: { alert_id: string; channel_id: string },
  isActive: boolean,
) {
  const condition = and(eq(alert.alert_id, alertId), eq(alert.channel_id, channelId))
  const [current] = await tx.select().from(alert).where(condition)
  if (!current) throw missingRecords([{ field: 'alert_id', record: 'alert on this channel' }])
  if (current.is_active === isActive) return toAlert(current)
  const row = assertChanged(
    await tx.update(alert).set({ is_active: isActive }).where(condition).returning(),
  )
  await resetState(tx, alertId)
  return toAlert(row)
}

/**
 * Deletes the result of the last evaluation of an alert that has changed: whether its condition
 * holds, and when it was evaluated.
 */
const resetState = (tx: Transaction, alertId: string) =>
  tx
    .update(alertState)
    .set({ holds: null, looked_at: null })
    .where(eq(alertState.alert_id, alertId))

/**
 * Throws `EyrieError` (`syntax`) if `alert_threshold_key`, the key of the statistic that is
 * compared with the threshold, is not a statistic of the channel's usecase.
 */
async function assertThresholdKey(
  tx: Transaction,
  fields: Pick<AlertRow, 'channel_id' | 'alert_threshold_key'>,
) {
  // The API has checked that the channel exists.
  const [row] = await tx
    .select({ customAggregations: usecase.usecase_aggregations })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(eq(channel.channel_id, fields.channel_id))
  const key = fields.alert_threshold_key
  assertStatisticKeys([{ field: 'alert_threshold_key', key }], row!.customAggregations)
}
