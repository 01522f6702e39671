import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'
import { type Aggregation, getAggregation } from '@eyrie/contract/management/statistic'
import { and, asc, eq, inArray, type SQL } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert, alertState, channel, usecase } from '../db/schema/index.ts'
import type { Standing, Watch } from './evaluate.ts'

/** How an alert stands, and of which moment that is: epoch ms. */
export interface DatedStanding extends Standing {
  lookedAt: number | undefined
}

/** An active alert with all that it takes to look at it, and to tell of it. */
export interface Watched extends Watch {
  alert_id: string
  alert_name: string
  alert_priority: string
  alert_threshold: string
  key: string
  /** How the key is aggregated. */
  aggregation: Aggregation
  actions: AlertAction[]
  channel_id: string
  channel_name: string
  usecase_key: string
  is_storage: boolean
  /** Over which the statistic is taken. */
  seconds: number
  standing: DatedStanding
}

/** The active alerts that meet a condition on their columns. Locked, nobody else changes how they stand meanwhile. */
export async function watchAlerts(
  tx: Transaction,
  condition: SQL | undefined,
  { locked }: { locked: boolean },
): Promise<Watched[]> {
  const alerts = await tx
    .select()
    .from(alert)
    .innerJoin(channel, eq(channel.channel_id, alert.channel_id))
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(and(eq(alert.is_active, true), condition))
    .orderBy(asc(alert.alert_id))
  if (alerts.length === 0) return []
  const ids = alerts.map(({ alert: { alert_id } }) => alert_id)
  if (locked)
    await tx
      .insert(alertState)
      .values(ids.map(alert_id => ({ alert_id })))
      .onConflictDoNothing()
  const stored = tx
    .select()
    .from(alertState)
    .where(inArray(alertState.alert_id, ids))
    .orderBy(asc(alertState.alert_id))
  const states = await (locked ? stored.for('update') : stored)
  const byAlert = new Map(states.map(state => [state.alert_id, state]))
  return alerts.map(({ alert, channel, usecase }) => ({
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
    standing: standingOf(byAlert.get(alert.alert_id)),
  }))
}

const standingOf = (state: typeof alertState.$inferSelect | undefined): DatedStanding => ({
  firedAt: state?.fired_at?.getTime(),
  holds: state?.holds ?? undefined,
  lookedAt: state?.looked_at?.getTime(),
})

/** How an alert stands that is found to hold, or not, at a moment; one that came late makes it no older. */
export const standingAt = (
  before: DatedStanding,
  at: number,
  { fires, holds }: { fires: boolean; holds: boolean },
): DatedStanding => ({
  firedAt: fires ? at : before.firedAt,
  holds,
  lookedAt: Math.max(at, before.lookedAt ?? at),
})

/** Stores how alerts stand now. */
export async function keepStandings(tx: Transaction, alerts: readonly Watched[]): Promise<void> {
  for (const { alert_id, standing } of alerts)
    await tx
      .update(alertState)
      .set({
        fired_at: dateOf(standing.firedAt),
        holds: standing.holds ?? null,
        looked_at: dateOf(standing.lookedAt),
      })
      .where(eq(alertState.alert_id, alert_id))
}

const dateOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms))
