import { DEFAULT_QUIET_S } from '@eyrie/contract/management/alert-policy'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { activeCondition } from '../incidents/active-snoozes.ts'

/**
 * Ends the incidents whose condition has been released for their quiet time before `now`
 * (epoch ms), and those whose alert was disabled or deleted. `ended_at` is when the
 * condition stopped holding.
 */
export async function endIncidents(tx: Transaction, now: number): Promise<void> {
  const time = sql`${new Date(now).toISOString()}::timestamptz`
  await tx.execute(sql`
    update incident i set ended_at = greatest(state.released_at, i.last_at)
    from incident other
    left join alert a on a.alert_id = other.alert_id
    left join alert_policy policy on policy.alert_id = other.alert_id
    left join alert_state state on state.alert_id = other.alert_id
    where other.incident_id = i.incident_id and i.ended_at is null
      and (
        coalesce(a.is_active, false) = false
        or greatest(state.released_at, i.last_at)
          + coalesce(policy.quiet_s, ${DEFAULT_QUIET_S}) * interval '1 second' <= ${time}
          and state.released_at is not null
      )`)
}

/** Deletes the snoozes that are over at `now` (epoch ms). The audit log retains them. */
export async function deleteOverSnoozes(tx: Transaction, now: number): Promise<void> {
  const time = sql`${new Date(now).toISOString()}::timestamptz`
  await tx.execute(sql`delete from snooze s where not ${activeCondition(time)}`)
}
