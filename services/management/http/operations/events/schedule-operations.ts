import { type Schedule, scheduleRoutes } from '@eyrie/contract/management/schedule'
import type { ArmedState } from '@eyrie/kit/schedules/armed-timeline'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { alert, schedule } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { loadTimelines } from '../../../schedules/armed-alerts.ts'
import { assignMissingNumbers } from '../../api/assign-numbers.ts'
import {
  defineLookup,
  defineMultiStepOperation,
  defineOperation,
  type Input,
} from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'
import { assertReferencesExist } from '../../api/references.ts'

type AlertRow = typeof alert.$inferSelect
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
    await assertAlertOnChannel(tx, input)
    const created = firstRow(await tx.insert(schedule).values(numberOccurrences(input)).returning())
    return { createdId: created.schedule_id }
  }),

  defineOperation(scheduleRoutes.update, async ({ input }, tx) => {
    const { schedule_id: scheduleId, ...fields } = input
    await assertAlertOnChannel(tx, fields)
    const rows = await tx
      .update(schedule)
      .set(numberOccurrences(fields))
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
    const rows = await findSchedules(tx, input.channel_id)
    return { value: rows.map(toSchedule) }
  }),

  defineOperation(scheduleRoutes.enable, async ({ input }, tx) => ({
    value: await setActive(tx, input, true),
  })),

  defineOperation(scheduleRoutes.disable, async ({ input }, tx) => ({
    value: await setActive(tx, input, false),
  })),

  defineMultiStepOperation(scheduleRoutes.state, async ({ input, caller }, database) => {
    const { channel_id: channelId } = input
    const { alerts, schedules } = await database.as(caller, scheduleRoutes.state.path, async tx => {
      await assertReferencesExist(tx, scheduleRoutes.state, input)
      return {
        alerts: await findAlerts(tx, channelId),
        schedules: await findSchedules(tx, channelId),
      }
    })

    // The state depends on the site and on calendars. They are read with all rights, because they
    // may be invisible to the caller.
    const alertIds = alerts.map(({ alert_id }) => alert_id)
    const timelines = await database.system('schedules', tx => loadTimelines(tx, alertIds))
    const timeMs = nowMs()
    const states = alerts.map(row => {
      const armedState = timelines.get(row.alert_id)?.stateAt(timeMs)
      return toAlertState(row, armedState, schedules)
    })
    return { value: states }
  }),
]

const findAlerts = (tx: Transaction, channelId: string): Promise<AlertRow[]> =>
  tx
    .select()
    .from(alert)
    .where(eq(alert.channel_id, channelId))
    .orderBy(asc(alert.alert_name), asc(alert.alert_id))

const findSchedules = (tx: Transaction, channelId: string): Promise<ScheduleRow[]> =>
  tx
    .select()
    .from(schedule)
    .where(eq(schedule.channel_id, channelId))
    .orderBy(asc(schedule.schedule_name), asc(schedule.schedule_id))

/** Describes whether an alert is armed, by which schedules, and until when. */
function toAlertState(
  { alert_id, alert_name, is_active }: AlertRow,
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

type Occurrences = Pick<Input<typeof scheduleRoutes.create>, 'schedule_occurrence'>

/** Assigns an id to each occurrence in the fields of a schedule that has none. */
const numberOccurrences = <Fields extends Occurrences>(fields: Fields) => ({
  ...fields,
  schedule_occurrence: assignMissingNumbers('occurrence_id', fields.schedule_occurrence),
})

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
