import { type ArmedAlertState, resolveCalendars } from '@eyrie/contract/management/schedule-rules'
import { computeArmedStates } from '@eyrie/kit/schedules/armed-states'
import { type ArmedTimeline, createArmedTimeline } from '@eyrie/kit/schedules/armed-timeline'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { alert, alertArming, alertState, schedule } from '../db/schema/index.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { isAnyOf } from '../db/text-array.ts'
import { loadScheduleRules } from './load-schedule-rules.ts'

// An alert can fire only while it is armed. Its schedules decide when it is armed. The scheduler
// computes that and stores it for a period in advance (`alert_arming`). An alert without active
// schedules is always armed.

/** Maximum number of states that `renewArmedStates` stores at once. */
const BATCH_SIZE = 1_000

/** Whether alerts are armed, for times within the loaded period. */
export interface ArmedAlerts {
  isArmedAt(alertId: string, timeMs: number): boolean
}

/** Times in epoch ms, both included. */
export interface EvaluatedPeriod {
  from: number
  to: number
}

/**
 * Loads whether alerts are armed in a period, from the stored states. If the state of an alert is
 * not valid for the whole period, its schedules are evaluated here: for example for messages that
 * arrive late, or while no scheduler runs.
 */
export async function loadArmedAlerts(
  tx: Transaction,
  alertIds: readonly string[],
  { from, to }: EvaluatedPeriod,
): Promise<ArmedAlerts> {
  if (alertIds.length === 0) return { isArmedAt: () => true }
  const rows = await tx
    .selectDistinctOn([schedule.alert_id], {
      alert_id: schedule.alert_id,
      is_armed: alertArming.is_armed,
      valid_from: alertArming.valid_from,
      valid_until: alertArming.valid_until,
    })
    .from(schedule)
    .leftJoin(alertArming, eq(alertArming.alert_id, schedule.alert_id))
    .where(and(eq(schedule.is_active, true), isAnyOf(schedule.alert_id, alertIds)))

  /** The states that are valid for the whole period, by alert id. */
  const states = new Map<string, boolean>()
  /** The ids of the alerts without such a state. */
  const uncoveredIds: string[] = []
  for (const { alert_id, is_armed, valid_from, valid_until } of rows) {
    const isCovered =
      valid_from && valid_until && valid_from.getTime() <= from && to < valid_until.getTime()
    if (isCovered && is_armed !== null) states.set(alert_id, is_armed)
    else uncoveredIds.push(alert_id)
  }

  const timelines = await loadTimelines(tx, uncoveredIds)
  return {
    // An alert that is in neither map has no active schedules.
    isArmedAt: (alertId, timeMs) =>
      states.get(alertId) ?? timelines.get(alertId)?.isArmedAt(timeMs) ?? true,
  }
}

/** Returns the timelines of the alerts that have active schedules, by alert id. */
export async function loadTimelines(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<Map<string, ArmedTimeline>> {
  if (alertIds.length === 0) return new Map()
  const alerts = resolveCalendars(await loadScheduleRules(tx, alertIds))
  return new Map(
    alerts.map(({ alert_id, rules, timezone }) => [alert_id, createArmedTimeline(rules, timezone)]),
  )
}

/**
 * Stores whether alerts are armed. For an alert that was disarmed and is armed now, also deletes
 * the result of its last evaluation. Such an alert fires if its condition holds, even if the
 * condition held already when the alert was disarmed.
 */
export async function storeArmedStates(
  tx: Transaction,
  states: readonly ArmedAlertState[],
): Promise<void> {
  const existingIds = await lockAlerts(tx, states)
  const existing = states.filter(({ alert_id }) => existingIds.has(alert_id))
  if (existing.length === 0) return

  const disarmedIds = await listDisarmedAlerts(tx, [...existingIds])
  await upsertStates(tx, existing)
  const rearmed = existing.filter(({ alert_id, is_armed }) => is_armed && disarmedIds.has(alert_id))
  const rearmedIds = rearmed.map(({ alert_id }) => alert_id)
  if (rearmedIds.length > 0) {
    await tx.update(alertState).set({ holds: null }).where(inArray(alertState.alert_id, rearmedIds))
  }
}

/**
 * Returns the ids of the alerts that have not been deleted since their states were computed. The
 * lock prevents their deletion until the transaction ends.
 */
async function lockAlerts(
  tx: Transaction,
  states: readonly ArmedAlertState[],
): Promise<Set<string>> {
  const ids = states.map(({ alert_id }) => alert_id)
  const rows = await tx
    .select({ alert_id: alert.alert_id })
    .from(alert)
    .where(isAnyOf(alert.alert_id, ids))
    .orderBy(alert.alert_id)
    .for('key share')
  return new Set(rows.map(({ alert_id }) => alert_id))
}

/** Returns the alerts whose stored state is disarmed. */
async function listDisarmedAlerts(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<Set<string>> {
  const rows = await tx
    .select({ alert_id: alertArming.alert_id })
    .from(alertArming)
    .where(and(isAnyOf(alertArming.alert_id, alertIds), eq(alertArming.is_armed, false)))
  return new Set(rows.map(({ alert_id }) => alert_id))
}

async function upsertStates(tx: Transaction, states: readonly ArmedAlertState[]): Promise<void> {
  // Sorted, so that two transactions cannot deadlock.
  const sortedStates = states.toSorted((a, b) => (a.alert_id < b.alert_id ? -1 : 1))
  const rows = sortedStates.map(state => ({
    ...state,
    valid_from: new Date(state.valid_from),
    valid_until: new Date(state.valid_until),
    next_change_at: state.next_change_at === null ? null : new Date(state.next_change_at),
  }))
  await tx
    .insert(alertArming)
    .values(rows)
    .onConflictDoUpdate({
      target: alertArming.alert_id,
      set: {
        is_armed: sql`excluded.is_armed`,
        schedule_ids: sql`excluded.schedule_ids`,
        // If a state is renewed before it has ended, it remains valid from its beginning.
        valid_from: sql`case
          when ${alertArming.is_armed} = excluded.is_armed
            and ${alertArming.valid_until} >= excluded.valid_from
          then least(${alertArming.valid_from}, excluded.valid_from)
          else excluded.valid_from
        end`,
        valid_until: sql`excluded.valid_until`,
        next_change_at: sql`excluded.next_change_at`,
      },
    })
}

/**
 * Computes and stores the states that the scheduler has not stored in time. `now` is in epoch ms.
 */
export async function renewArmedStates(database: Database, now: number): Promise<void> {
  await database.system('schedules', async tx => {
    const expired = await tx
      .selectDistinct({ alert_id: schedule.alert_id })
      .from(schedule)
      .leftJoin(alertArming, eq(alertArming.alert_id, schedule.alert_id))
      .where(
        and(
          eq(schedule.is_active, true),
          sql`(${alertArming.valid_until} is null or ${alertArming.valid_until} <= ${toTimestamp(now)})`,
        ),
      )
      .limit(BATCH_SIZE)
    if (expired.length === 0) return
    const alertIds = expired.map(({ alert_id }) => alert_id)
    const rules = await loadScheduleRules(tx, alertIds)
    await storeArmedStates(tx, computeArmedStates(rules, now))
  })
}
