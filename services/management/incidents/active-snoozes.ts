import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { uuidArray } from '../db/sql-values.ts'

// SQL conditions and queries about snoozes. A snooze is a time in which nothing is sent about an
// alert, the alerts of a channel, or all alerts of a site. The conditions are parts of queries that
// name the tables `snooze`, `incident` and `channel` without an alias.

/** The snooze that is active for an alert. */
export interface ActiveSnooze {
  /** Undefined: until the incidents are resolved. */
  until: Date | undefined
  created_by: string
}

/**
 * Selects the snoozes that apply to an alert: to the alert itself, or to its channel or site as a
 * whole.
 */
const coversCondition = (alertId: SQL, channelId: SQL, siteId: SQL): SQL => sql`(
  snooze.alert_id = ${alertId}
  or (snooze.alert_id is null and snooze.channel_id = ${channelId})
  or (snooze.channel_id is null and snooze.site_id = ${siteId})
)`

/**
 * Selects the snoozes that have not ended at `now`. A snooze without an end time is active as long
 * as one of the incidents that it covered when it was created is neither resolved nor ended.
 */
export const activeCondition = (now: SQL): SQL => sql`(
  case
    when snooze.until is not null then snooze.until > ${now}
    else exists (
      select from incident covered
      join channel covered_channel on covered_channel.channel_id = covered.channel_id
      where covered.ended_at is null
        and covered.resolved_at is null
        and covered.created_at <= snooze.created_at
        and ${coversCondition(
          sql`covered.alert_id`,
          sql`covered.channel_id`,
          sql`covered_channel.site_id`,
        )}
    )
  end
)`

/** Selects the incidents that a snooze covers at `now`, in a query that joins their channels. */
export const snoozedCondition = (now: SQL): SQL => sql`exists (
  select from snooze
  where ${coversCondition(sql`incident.alert_id`, sql`incident.channel_id`, sql`channel.site_id`)}
    and ${activeCondition(now)}
)`

/**
 * Returns the active snooze of each snoozed alert, by alert id: the one that ends last
 * if several are active.
 */
export async function findActiveSnoozes(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<Map<string, ActiveSnooze>> {
  const rows = await tx.execute<{ alert_id: string; until: Date | null; created_by: string }>(sql`
    select distinct on (alert.alert_id)
      alert.alert_id,
      snooze.until,
      snooze.created_by
    from alert
    join channel on channel.channel_id = alert.channel_id
    join snooze
      on ${coversCondition(sql`alert.alert_id`, sql`alert.channel_id`, sql`channel.site_id`)}
    where alert.alert_id = any (${uuidArray(alertIds)})
      and ${activeCondition(sql`now()`)}
    -- A snooze without an end time ends last.
    order by alert.alert_id, snooze.until desc nulls first`)
  return new Map(
    rows.map(({ alert_id: alertId, until, created_by: createdBy }) => [
      alertId,
      { until: until === null ? undefined : new Date(until), created_by: createdBy },
    ]),
  )
}
