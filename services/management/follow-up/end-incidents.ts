import { DEFAULT_QUIET_S } from '@eyrie/contract/management/alert-policy'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { completeUntil } from '../events/message-delay.ts'
import { activeCondition } from '../incidents/active-snoozes.ts'

/**
 * Ends incidents at `now` (epoch ms): those whose condition has been released for their quiet time,
 * and those whose alert was disabled or deleted. `ended_at` is when the condition stopped holding.
 *
 * The quiet time is over only when all messages about it are stored: after an outage, the engine
 * first sends what it could not send before, which may continue the incident.
 */
export async function endIncidents(tx: Transaction, now: number): Promise<void> {
  // The updated table cannot be on the left of an outer join. The incidents are therefore read a
  // second time, as `running`.
  await tx.execute(sql`
    update incident
    set ended_at = greatest(state.released_at, incident.last_at)
    from incident running
    join channel on channel.channel_id = running.channel_id
    left join lease on lease.subject = channel.engine_id::text
    left join alert on alert.alert_id = running.alert_id
    left join alert_policy policy on policy.alert_id = running.alert_id
    left join alert_state state on state.alert_id = running.alert_id
    where running.incident_id = incident.incident_id
      and incident.ended_at is null
      and (
        coalesce(alert.is_active, false) = false
        or (
          state.released_at is not null
          and greatest(state.released_at, incident.last_at)
            + coalesce(policy.quiet_s, ${DEFAULT_QUIET_S}) * interval '1 second'
            <= least(${toTimestamp(now)}, ${completeUntil})
        )
      )`)
}

/** Deletes the snoozes that are over at `now` (epoch ms). The audit log retains them. */
export async function deleteOverSnoozes(tx: Transaction, now: number): Promise<void> {
  await tx.execute(sql`delete from snooze where not ${activeCondition(toTimestamp(now))}`)
}
