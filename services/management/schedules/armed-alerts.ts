import { type ArmedAlertState, resolveCalendars } from '@eyrie/contract/management/schedule-rules'
import { computeArmedStates } from '@eyrie/kit/schedules/armed-states'
import { type ArmedTimeline, createArmedTimeline } from '@eyrie/kit/schedules/armed-timeline'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { alert, alertArming, alertState, schedule } from '../db/schema/index.ts'
import { isAnyOf } from '../db/text-array.ts'
import { loadScheduleRules } from './load-schedule-rules.ts'

/** Whether alerts are armed by their schedules, at times within the loaded period. */
export interface ArmedAlerts {
  isArmedAt(alert_id: string, timeMs: number): boolean
}

/** Both times are included, in epoch ms. */
export interface EvaluatedPeriod {
  from: number
  to: number
}

/**
 * Loads whether alerts are armed in a period. States that the scheduler has stored count for the time for which they are valid.
 * For other times, such as those of messages that arrive late, and while no scheduler runs, the schedules are evaluated here.
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

  const stored = new Map<string, boolean>()
  const uncovered: string[] = []
  for (const { alert_id, is_armed, valid_from, valid_until } of rows) {
    const isCovered = valid_from && valid_until && valid_from.getTime() <= from && to < valid_until.getTime()
    if (isCovered && is_armed !== null) stored.set(alert_id, is_armed)
    else uncovered.push(alert_id)
  }

  const timelines = await loadTimelines(tx, uncovered)
  return {
    // An alert without active schedules is always armed.
    isArmedAt: (alert_id, timeMs) =>
      stored.get(alert_id) ?? timelines.get(alert_id)?.isArmedAt(timeMs) ?? true,
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

/** Stores which alerts are armed. The evaluation of an alert that is armed now starts afresh. */
export async function storeArmedStates(tx: Transaction, states: readonly ArmedAlertState[]): Promise<void> {
  const ids = states.map(({ alert_id }) => alert_id)
  // An alert may have been deleted since its state was computed. The lock keeps the others until the end.
  const existing = await tx
    .select({ alert_id: alert.alert_id })
    .from(alert)
    .where(isAnyOf(alert.alert_id, ids))
    .orderBy(alert.alert_id)
    .for('key share')
  const existingIds = new Set(existing.map(({ alert_id }) => alert_id))
  const rows = states
    .filter(({ alert_id }) => existingIds.has(alert_id))
    .map(({ valid_from, valid_until, next_change_at, ...state }) => ({
      ...state,
      valid_from: new Date(valid_from),
      valid_until: new Date(valid_until),
      next_change_at: next_change_at === null ? null : new Date(next_change_at),
    }))
    .toSorted((a, b) => (a.alert_id < b.alert_id ? -1 : 1))
  if (rows.length === 0) return

  const disarmed = await tx
    .select({ alert_id: alertArming.alert_id })
    .from(alertArming)
    .where(and(isAnyOf(alertArming.alert_id, ids), eq(alertArming.is_armed, false)))
  await tx
    .insert(alertArming)
    .values(rows)
    .onConflictDoUpdate({
      target: alertArming.alert_id,
      set: {
        is_armed: sql`excluded.is_armed`,
        schedule_ids: sql`excluded.schedule_ids`,
        // A state that is renewed without interruption is valid since it began.
        valid_from: sql`case
          when ${alertArming.is_armed} = excluded.is_armed and ${alertArming.valid_until} >= excluded.valid_from
          then least(${alertArming.valid_from}, excluded.valid_from) else excluded.valid_from end`,
        valid_until: sql`excluded.valid_until`,
        next_change_at: sql`excluded.next_change_at`,
      },
    })

  const wasDisarmed = new Set(disarmed.map(({ alert_id }) => alert_id))
  const armed = rows.filter(({ alert_id, is_armed }) => is_armed && wasDisarmed.has(alert_id))
  const armedIds = armed.map(({ alert_id }) => alert_id)
  if (armedIds.length > 0)
    await tx.update(alertState).set({ holds: null }).where(inArray(alertState.alert_id, armedIds))
}

/** Number of states that one transaction stores. */
const BATCH_SIZE = 1_000

/** Computes and stores the states that the scheduler has not stored in time, for example because it does not run. */
export async function renewArmedStates(database: Database, now: number): Promise<void> {
  await database.system('schedules', async tx => {
    const expired = await tx
      .selectDistinct({ alert_id: schedule.alert_id })
      .from(schedule)
      .leftJoin(alertArming, eq(alertArming.alert_id, schedule.alert_id))
      .where(
        and(
          eq(schedule.is_active, true),
          sql`(${alertArming.valid_until} is null or ${alertArming.valid_until} <= ${new Date(now).toISOString()})`,
        ),
      )
      .limit(BATCH_SIZE)
    if (expired.length === 0) return
    const rules = await loadScheduleRules(
      tx,
      expired.map(({ alert_id }) => alert_id),
    )
    await storeArmedStates(tx, computeArmedStates(rules, now))
  })
}
