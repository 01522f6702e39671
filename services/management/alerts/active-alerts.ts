import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'
import { type Aggregation, getAggregation } from '@eyrie/contract/management/statistic'
import { and, asc, eq, inArray, type SQL } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert, alertState, channel, usecase } from '../db/schema/index.ts'
import type { AlertRule, AlertStanding } from './evaluate-alert.ts'

export interface StoredStanding extends AlertStanding {
  /** The latest time for which the alert was evaluated, epoch ms. */
  evaluatedAt: number | undefined
}

/** An active alert with all that evaluation and notification require. */
export interface ActiveAlert extends AlertRule {
  alert_id: string
  alert_name: string
  alert_priority: string
  alert_threshold: string
  /** The statistic that is compared. */
  key: string
  aggregation: Aggregation
  actions: AlertAction[]
  channel_id: string
  channel_name: string
  usecase_key: string
  is_storage: boolean
  /** Length of the window of the statistic. */
  seconds: number
  standing: StoredStanding
}

/** Loads the active alerts that meet a condition on their columns. `locked` locks their standings for this transaction. */
export async function loadActiveAlerts(
  tx: Transaction,
  condition: SQL | undefined,
  { locked }: { locked: boolean },
): Promise<ActiveAlert[]> {
  const rows = await tx
    .select()
    .from(alert)
    .innerJoin(channel, eq(channel.channel_id, alert.channel_id))
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(and(eq(alert.is_active, true), condition))
    .orderBy(asc(alert.alert_id))
  if (rows.length === 0) return []
  const standings = await loadStandings(
    tx,
    rows.map(row => row.alert.alert_id),
    { locked },
  )
  return rows.map(({ alert, channel, usecase }) => ({
    alert_id: alert.alert_id,
    alert_name: alert.alert_name,
    alert_priority: alert.alert_priority,
    alert_threshold: alert.alert_threshold,
    threshold: Number(alert.alert_threshold),
    condition: alert.alert_threshold_condition as AlertCondition,
    key: alert.alert_threshold_key,
    aggregation: getAggregation(alert.alert_threshold_key, usecase.usecase_aggregations),
    frequency: alert.alert_frequency,
    actions: alert.alert_actions as AlertAction[],
    channel_id: channel.channel_id,
    channel_name: channel.channel_name,
    usecase_key: usecase.usecase_key,
    is_storage: channel.is_storage,
    seconds: channel.channel_threshold_duration,
    standing: standings.get(alert.alert_id) ?? initialStanding,
  }))
}

const initialStanding: StoredStanding = { firedAt: undefined, holds: undefined, evaluatedAt: undefined }

async function loadStandings(
  tx: Transaction,
  alertIds: readonly string[],
  { locked }: { locked: boolean },
): Promise<Map<string, StoredStanding>> {
  // Only a row that exists can be locked.
  if (locked)
    await tx
      .insert(alertState)
      .values(alertIds.map(alert_id => ({ alert_id })))
      .onConflictDoNothing()
  const query = tx
    .select()
    .from(alertState)
    .where(inArray(alertState.alert_id, [...alertIds]))
    .orderBy(asc(alertState.alert_id))
  const rows = await (locked ? query.for('update') : query)
  return new Map(
    rows.map(row => [
      row.alert_id,
      {
        firedAt: row.fired_at?.getTime(),
        holds: row.holds ?? undefined,
        evaluatedAt: row.looked_at?.getTime(),
      },
    ]),
  )
}

/** Returns the standing after an evaluation. A late message does not move `evaluatedAt` back. */
export const advanceStanding = (
  previous: StoredStanding,
  timeMs: number,
  { fires, holds }: { fires: boolean; holds: boolean },
): StoredStanding => ({
  firedAt: fires ? timeMs : previous.firedAt,
  holds,
  evaluatedAt: Math.max(timeMs, previous.evaluatedAt ?? timeMs),
})

export async function storeStandings(tx: Transaction, alerts: readonly ActiveAlert[]): Promise<void> {
  for (const { alert_id, standing } of alerts)
    await tx
      .update(alertState)
      .set({
        fired_at: toDate(standing.firedAt),
        holds: standing.holds ?? null,
        looked_at: toDate(standing.evaluatedAt),
      })
      .where(eq(alertState.alert_id, alert_id))
}

const toDate = (ms: number | undefined) => (ms === undefined ? null : new Date(ms))
