import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { formatTextArray } from '../db/text-array.ts'

// Conditions and queries about snoozes: times in which the alerts of a site, a channel or one alert send nothing. In the conditions,
// the alias `s` is a snooze, `i` an incident, and `c` the channel of an alert or incident.

/** A snooze that applies to an alert. */
export interface ActiveSnooze {
  /** Undefined: until the incidents are resolved. */
  until: Date | undefined
  created_by: string
}

/** The condition that the snooze `s` covers the alert, the channel or the site in these columns. */
const covers = (alertId: SQL, channelId: SQL, siteId: SQL): SQL => sql`(
  s.alert_id = ${alertId}
  or (s.alert_id is null and s.channel_id = ${channelId})
  or (s.channel_id is null and s.site_id = ${siteId}))`

/**
 * The condition that the snooze `s` has not ended at `now`. A snooze without an end lasts until all incidents that it covered when it
 * was created are resolved or have ended.
 */
export const isActive = (now: SQL): SQL => sql`(
  case when s.until is not null then s.until > ${now}
  else exists (
    select from incident i join channel ic on ic.channel_id = i.channel_id
    where i.ended_at is null and i.resolved_at is null and i.created_at <= s.created_at
      and ${covers(sql`i.alert_id`, sql`i.channel_id`, sql`ic.site_id`)})
  end)`

/** The condition that an active snooze covers the incident `i` on the channel `c` at `now`. */
export const isSnoozed = (now: SQL): SQL => sql`exists (
  select from snooze s
  where ${covers(sql`i.alert_id`, sql`i.channel_id`, sql`c.site_id`)} and ${isActive(now)})`

/** Returns the snooze that applies to each alert now, by alert id. If there are several, returns the one that ends last. */
export async function findActiveSnoozes(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<Map<string, ActiveSnooze>> {
  const rows = await tx.execute<{ alert_id: string; until: Date | null; created_by: string }>(sql`
    select distinct on (a.alert_id) a.alert_id, s.until, s.created_by
    from alert a join channel c on c.channel_id = a.channel_id
    join snooze s on ${covers(sql`a.alert_id`, sql`a.channel_id`, sql`c.site_id`)}
    where a.alert_id = any (${formatTextArray(alertIds)}::uuid[]) and ${isActive(sql`now()`)}
    order by a.alert_id, s.until desc nulls first`)
  return new Map(
    rows.map(({ alert_id: alertId, until, created_by }) => [
      alertId,
      { until: until === null ? undefined : new Date(until), created_by },
    ]),
  )
}
