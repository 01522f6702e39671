import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { formatTextArray } from '../db/text-array.ts'

// SQL conditions and queries about snoozes. A snooze is a time in which nothing is sent about an
// alert, the alerts of a channel, or all alerts of a site. The conditions are parts of queries with
// these aliases: `s` is a snooze, `i` an incident, and `c` the channel of the alert or incident.

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
  s.alert_id = ${alertId}
  or (s.alert_id is null and s.channel_id = ${channelId})
  or (s.channel_id is null and s.site_id = ${siteId}))`

/**
 * Selects the snoozes that have not ended at `now`. A snooze without an end time is active as long
 * as one of the incidents that it covered when it was created is neither resolved nor ended.
 */
export const activeCondition = (now: SQL): SQL => sql`(
  case when s.until is not null then s.until > ${now}
  else exists (
    select from incident i join channel ic on ic.channel_id = i.channel_id
    where i.ended_at is null and i.resolved_at is null and i.created_at <= s.created_at
      and ${coversCondition(sql`i.alert_id`, sql`i.channel_id`, sql`ic.site_id`)})
  end)`

/** Selects the incidents `i` that a snooze covers at `now`. */
export const snoozedCondition = (now: SQL): SQL => sql`exists (
  select from snooze s
  where ${coversCondition(sql`i.alert_id`, sql`i.channel_id`, sql`c.site_id`)} and ${activeCondition(now)})`

/**
 * Returns the active snooze of each snoozed alert, by alert id: the one that ends last
 * if several are active.
 */
export async function findActiveSnoozes(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<Map<string, ActiveSnooze>> {
  const rows = await tx.execute<{ alert_id: string; until: Date | null; created_by: string }>(sql`
    select distinct on (a.alert_id) a.alert_id, s.until, s.created_by
    from alert a join channel c on c.channel_id = a.channel_id
    join snooze s on ${coversCondition(sql`a.alert_id`, sql`a.channel_id`, sql`c.site_id`)}
    where a.alert_id = any (${formatTextArray(alertIds)}::uuid[]) and ${activeCondition(sql`now()`)}
    order by a.alert_id, s.until desc nulls first`)
  return new Map(
    rows.map(({ alert_id: alertId, until, created_by: createdBy }) => [
      alertId,
      { until: until === null ? undefined : new Date(until), created_by: createdBy },
    ]),
  )
}
