import type { AlertCondition } from '@eyrie/contract/management/alert'
import { alertPolicyRoutes } from '@eyrie/contract/management/alert-policy'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { alert, alertPolicy } from '../../../db/schema/index.ts'
import { fieldError, missingRecords } from '../../../errors/field-errors.ts'
import { toPolicy } from '../../../incidents/alert-policies.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

type AlertRow = typeof alert.$inferSelect

/**
 * API operations on the policies of alerts. The policy of an alert decides which of its
 * notifications are sent to people.
 */
export const alertPolicyOperations: Operation[] = [
  defineOperation(alertPolicyRoutes.getPolicy, async ({ input }, tx) => ({
    value: await readPolicy(tx, await findAlert(tx, input.alert_id)),
  })),

  defineOperation(alertPolicyRoutes.updatePolicy, async ({ input }, tx) => {
    const { alert_id: alertId, budget_per_hour: budgetPerHour = null, ...fields } = input
    const row = await findAlert(tx, alertId)
    assertReleaseThreshold(row, input.release_threshold)
    const values = { ...fields, budget_per_hour: budgetPerHour, channel_id: row.channel_id }
    await tx
      .insert(alertPolicy)
      .values({ ...values, alert_id: alertId })
      .onConflictDoUpdate({ target: alertPolicy.alert_id, set: values })
    return { value: await readPolicy(tx, row) }
  }),
]

async function findAlert(tx: Transaction, alertId: string): Promise<AlertRow> {
  const [row] = await tx.select().from(alert).where(eq(alert.alert_id, alertId))
  if (!row) throw missingRecords([{ field: 'alert_id', record: 'alert' }])
  return row
}

async function readPolicy(tx: Transaction, row: AlertRow) {
  const [policy] = await tx.select().from(alertPolicy).where(eq(alertPolicy.alert_id, row.alert_id))
  return toPolicy(row, policy ?? null)
}

/**
 * Throws `EyrieError` (`syntax`) if the release threshold is on the wrong side of the threshold. An
 * alert that fires above its threshold is released below it, and vice versa. An alert that compares
 * for equality has no release threshold.
 */
function assertReleaseThreshold(row: AlertRow, releaseThreshold: number | null): void {
  if (releaseThreshold === null) return
  // A constraint of the database admits only these conditions.
  const condition = row.alert_threshold_condition as AlertCondition
  if (condition === 'eq' || condition === 'ne') {
    throw fieldError('release_threshold', `must be null for the condition ${condition}`)
  }

  const firesAbove = condition === 'gt' || condition === 'gte'
  const threshold = Number(row.alert_threshold)
  const isValid = firesAbove ? releaseThreshold <= threshold : releaseThreshold >= threshold
  if (isValid) return
  const limit = firesAbove ? 'at most' : 'at least'
  throw fieldError(
    'release_threshold',
    `must be ${limit} ${row.alert_threshold}, which is the threshold of this alert (condition ${condition})`,
  )
}
