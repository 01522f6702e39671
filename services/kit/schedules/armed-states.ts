import {
  type ArmedAlertState,
  resolveCalendars,
  type ScheduleRules,
} from '@eyrie/contract/management/schedule-rules'
import { createArmedTimeline } from './armed-timeline.ts'

/**
 * How long a state without a change is valid. Afterwards it is computed again, for example with new
 * events of a calendar.
 */
const MAX_VALIDITY_MS = 25 * 3_600_000

/** Computes which alerts are armed at `now` (epoch ms), and until when. */
export const computeArmedStates = (rules: ScheduleRules, now: number): ArmedAlertState[] =>
  resolveCalendars(rules).map(alert => {
    const timeline = createArmedTimeline(alert.rules, alert.timezone)
    const { isArmed, scheduleIds, nextChange } = timeline.stateAt(now)
    return {
      alert_id: alert.alert_id,
      is_armed: isArmed,
      schedule_ids: scheduleIds,
      valid_from: formatTime(now),
      valid_until: formatTime(
        Math.min(nextChange ?? Number.POSITIVE_INFINITY, now + MAX_VALIDITY_MS),
      ),
      next_change_at: nextChange === undefined ? null : formatTime(nextChange),
    }
  })

const formatTime = (ms: number) => new Date(ms).toISOString()
