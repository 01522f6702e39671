import { type Schedule, scheduleRoutes } from '@eyrie/contract/management/schedule'
import type { ArmedState } from '@eyrie/kit/schedules/armed-timeline'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { alert, schedule } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { loadTimelines } from '../../../schedules/armed-alerts.ts'
import { assignMissingNumbers } from '../../api/assign-numbers.ts'
import { defineLookup, defineMultiStepOperation, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'
import { assertReferencesExist } from '../../api/references.ts'

type ScheduleRow = typeof schedule.$inferSelect

/**
 * Narrows the types of the columns. The cast is safe, because only validated schedules are stored.
 */
const toSchedule = (row: ScheduleRow) => row as ScheduleRow & Schedule

/**
 * API operations on schedules. A schedule contains the times at which an alert of a channel is
 * armed, which means that it can fire. `assertChanged` throws if the caller may read a schedule but
 * not change it. `nowMs` returns epoch ms.
 */
export const scheduleOperations = (nowMs: () => number) => [
  defineOperation(scheduleRoutes.create, async ({ input }, tx) => {
    const { schedule_occurrence: scheduleOccurrence, ...fields } = input
    await assertAlertOnChannel(tx, fields)
    const occurrences = assignMissingNumbers('occurrence_id', scheduleOccurrence)
    const values = { ...fields, schedule_occurrence: occurrences }
    const created = firstRow(await tx.insert(schedule).values(values).returning())
    return { createdId: created.schedule_id }
  }),

  defineOperation(scheduleRoutes.update, async ({ input }, tx) => {
    const { schedule_id: scheduleId, schedule_occurrence: scheduleOccurrence, ...fields } = input
    await assertAlertOnChannel(tx, fields)
    const occurrences = assignMissingNumbers('occurrence_id', scheduleOccurrence)
    const values = { ...fields, schedule_occurrence: occurrences }
    const rows = await tx
      .update(schedule)
      .set(values)
      .where(eq(schedule.schedule_id, scheduleId))
      .returning()
    return { value: toSchedule(assertChanged(rows)) }
  }),

  defineOperation(scheduleRoutes.delete, async ({ input }, tx) => {
    assertChanged(
      await tx.delete(schedule).where(eq(schedule.schedule_id, input.schedule_id)).returning(),
    )
  }),

  defineLookup(scheduleRoutes.get, async ({ input }, tx) => {
    const [row] = await tx
      .select()
      .from(schedule)
      .where(eq(schedule.schedule_id, input.schedule_id))
    return row && toSchedule(row)
  }),

  defineOperation(scheduleRoutes.list, async ({ input }, tx) => {
    const rows = await tx
      .select()
      .from(schedule)
      .where(eq(schedule.channel_id, input.channel_id))
      .orderBy(asc(schedule.schedule_name), asc(schedule.schedule_id))
    return { value: rows.map(toSchedule) }
  }),

  defineOperation(scheduleRoutes.enable, async ({ input }, tx) => ({
    value: await setActive(tx, input, true),
  })),

  defineOperation(scheduleRoutes.disable, async ({ input }, tx) => ({
    value: await setActive(tx, input, false),
  })),

  defineMultiStepOperation(scheduleRoutes.state, async ({ input, caller }, database) => {
    const { alerts, schedules } = await database.as(caller, scheduleRoutes.state.path, async tx => {
      await assertReferencesExist(tx, scheduleRoutes.state, input)
      const alerts = await tx
        .select()
        .from(alert)
        .where(eq(alert.channel_id, input.channel_id))
        .orderBy(asc(alert.alert_name), asc(alert.alert_id))
      const schedules = await tx
        .select()
        .from(schedule)
        .where(eq(schedule.channel_id, input.channel_id))
      return { alerts, schedules }
    })

    // Read with all rights, because the caller may not see the site and the calendars on
    // which the state depends.
    const alertIds = alerts.map(({ alert_id }) => alert_id)
    const timelines = await database.system('schedules', tx => loadTimelines(tx, alertIds))
    const instant = nowMs()
    const states = alerts.map(row => {
      const armedState = timelines.get(row.alert_id)?.stateAt(instant)
      return toAlertState(row, armedState, schedules)
    })
    return { value: states }
  }),
]

/** Describes whether an alert is armed, by which schedules, and until when. */
function toAlertState(
  { alert_id, alert_name, is_active }: typeof alert.$inferSelect,
  armedState: ArmedState | undefined,
  schedules: readonly ScheduleRow[],
) {
  const armedBy = schedules
    .filter(({ schedule_id }) => armedState?.scheduleIds.includes(schedule_id))
    .map(({ schedule_id, schedule_name }) => ({ schedule_id, schedule_name }))
  const nextChangeAt = armedState?.nextChange === undefined ? null : new Date(armedState.nextChange)
  return {
    alert_id,
    alert_name,
    is_active,
    // An alert without active schedules is always armed.
    is_armed: armedState?.isArmed ?? true,
    armed_by: armedBy,
    next_change_at: nextChangeAt,
  }
}

/** Enables or disables a schedule. */
async function setActive(
  tx: Transaction,
  { schedule_id: scheduleId }: { schedule_id: string },
  isActive: boolean,
) {
  const condition = eq(schedule.schedule_id, scheduleId)
  return toSchedule(
    assertChanged(
      await tx.update(schedule).set({ is_active: isActive }).where(condition).returning(),
    ),
  )
}

/** Throws `EyrieError` (`syntax`) if the alert belongs to another channel. */
async function assertAlertOnChannel(
  tx: Transaction,
  { alert_id: alertId, channel_id: channelId }: Pick<ScheduleRow, 'alert_id' | 'channel_id'>,
) {
  const [row] = await tx.select().from(alert).where(eq(alert.alert_id, alertId))
  if (row?.channel_id === channelId) return
  throw fieldError('alert_id', 'this alert belongs to another channel')
}
