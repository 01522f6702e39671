import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'
import type { AlertPolicy } from '@eyrie/contract/management/alert-policy'
import { type Aggregation, getAggregation } from '@eyrie/contract/management/statistic'
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert, alertPolicy, alertState, channel, usecase } from '../db/schema/index.ts'
import { toPolicy } from '../incidents/alert-policies.ts'
import type { AlertRule, AlertState } from './evaluate-alert.ts'

/** The state of an alert, as stored between evaluations. */
export interface StoredAlertState extends AlertState {
  /**
   * The latest time for which the alert was evaluated, in epoch ms. Undefined before
   * the first evaluation.
   */
  evaluatedAt: number | undefined
  /**
   * When the condition was released, in epoch ms. Undefined until it is, and before
   * the first evaluation.
   */
  releasedAt: number | undefined
}

/**
 * An enabled alert, with the data of its channel and usecase that evaluation and notifications
 * need.
 */
export interface ActiveAlert extends AlertRule {
  alert_id: string
  alert_name: string
  alert_priority: string
  /** The threshold as text, for messages. */
  alert_threshold: string
  /** Key of the statistic that is compared with the threshold. */
  statisticKey: string
  aggregation: Aggregation
  actions: AlertAction[]
  policy: AlertPolicy
  channel_id: string
  channel_name: string
  usecase_key: string
  is_storage: boolean
  /** Length of the time window over which the statistic is computed. */
  windowSeconds: number
  state: StoredAlertState
}

const INITIAL_STATE: StoredAlertState = {
  firedAt: undefined,
  holds: undefined,
  evaluatedAt: undefined,
  releasedAt: undefined,
}

interface LoadOptions {
  /**
   * Whether to lock the states of the alerts until the end of the transaction, in
   * order to change them.
   */
  locked: boolean
}

/** Loads the active alerts that meet a condition on columns of `alert`. */
export async function loadActiveAlerts(
  tx: Transaction,
  condition: SQL | undefined,
  options: LoadOptions,
): Promise<ActiveAlert[]> {
  const rows = await tx
    .select()
    .from(alert)
    .innerJoin(channel, eq(channel.channel_id, alert.channel_id))
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .leftJoin(alertPolicy, eq(alertPolicy.alert_id, alert.alert_id))
    .where(and(eq(alert.is_active, true), condition))
    .orderBy(asc(alert.alert_id))
  if (rows.length === 0) return []

  const alertIds = rows.map(row => row.alert.alert_id)
  const states = await loadAlertStates(tx, alertIds, options)
  return rows.map(row => toActiveAlert(row, states.get(row.alert.alert_id) ?? INITIAL_STATE))
}

interface AlertRow {
  alert: typeof alert.$inferSelect
  channel: typeof channel.$inferSelect
  usecase: typeof usecase.$inferSelect
  alert_policy: typeof alertPolicy.$inferSelect | null
}

/** The casts are safe, because the API stores only valid conditions and actions. */
function toActiveAlert(
  { alert, channel, usecase, alert_policy: alertPolicy }: AlertRow,
  state: StoredAlertState,
): ActiveAlert {
  return {
    alert_id: alert.alert_id,
    alert_name: alert.alert_name,
    alert_priority: alert.alert_priority,
    alert_threshold: alert.alert_threshold,
    threshold: Number(alert.alert_threshold),
    condition: alert.alert_threshold_condition as AlertCondition,
    statisticKey: alert.alert_threshold_key,
    aggregation: getAggregation(alert.alert_threshold_key, usecase.usecase_aggregations),
    frequency: alert.alert_frequency,
    actions: alert.alert_actions as AlertAction[],
    policy: toPolicy(alert, alertPolicy),
    channel_id: channel.channel_id,
    channel_name: channel.channel_name,
    usecase_key: usecase.usecase_key,
    is_storage: channel.is_storage,
    windowSeconds: channel.channel_threshold_duration,
    state,
  }
}

/** Returns the stored states by alert id. */
async function loadAlertStates(
  tx: Transaction,
  alertIds: readonly string[],
  { locked }: LoadOptions,
): Promise<Map<string, StoredAlertState>> {
  if (locked) {
    // Only existing rows can be locked.
    const missingRows = alertIds.map(alertId => ({ alert_id: alertId }))
    await tx.insert(alertState).values(missingRows).onConflictDoNothing()
  }

  const query = tx
    .select()
    .from(alertState)
    .where(inArray(alertState.alert_id, [...alertIds]))
    .orderBy(asc(alertState.alert_id))
  const rows = await (locked ? query.for('update') : query)
  const states = new Map<string, StoredAlertState>()
  for (const row of rows) {
    states.set(row.alert_id, {
      firedAt: row.fired_at?.getTime(),
      holds: row.holds ?? undefined,
      evaluatedAt: row.looked_at?.getTime(),
      releasedAt: row.released_at?.getTime(),
    })
  }
  return states
}

/** Stores the states of alerts that were loaded with a lock. */
export async function storeAlertStates(
  tx: Transaction,
  alerts: readonly ActiveAlert[],
): Promise<void> {
  if (alerts.length === 0) return
  const rows = alerts.map(({ alert_id, state }) => ({
    alert_id,
    holds: state.holds,
    fired_at: toDate(state.firedAt),
    looked_at: toDate(state.evaluatedAt),
    released_at: toDate(state.releasedAt),
  }))
  await tx.execute(sql`
    update alert_state
    set
      fired_at = changed.fired_at,
      holds = changed.holds,
      looked_at = changed.looked_at,
      released_at = changed.released_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as changed (
      alert_id uuid,
      fired_at timestamptz,
      holds boolean,
      looked_at timestamptz,
      released_at timestamptz
    )
    where alert_state.alert_id = changed.alert_id`)
}

const toDate = (ms: number | undefined) => (ms === undefined ? null : new Date(ms))
