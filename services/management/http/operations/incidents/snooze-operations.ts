import { EyrieError } from '@eyrie/contract'
import { type SnoozeDuration, snoozeRoutes } from '@eyrie/contract/management/snooze'
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { alert, channel, incident, snooze } from '../../../db/schema/index.ts'
import { activeCondition } from '../../../incidents/active-snoozes.ts'
import { defineLookup, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

const DURATIONS_MS: Record<Exclude<SnoozeDuration, 'resolved'>, number> = {
  hour: 3_600_000,
  day: 86_400_000,
}

/** The table under the name that `activeCondition` uses in its SQL. */
const s = alias(snooze, 's')

/**
 * API operations on snoozes. While a snooze of an alert, of its channel or of its site is active,
 * no one is informed of the alert.
 */
export const snoozeOperations = (now: () => Date): Operation[] => [
  defineOperation(snoozeRoutes.create, async ({ input, caller }, tx) => {
    const { duration, reason } = input
    const scope = await findScope(tx, input)
    if (duration === 'resolved') await assertOpenIncident(tx, scope)
    const until =
      duration === 'resolved' ? null : new Date(now().getTime() + DURATIONS_MS[duration])
    const created = firstRow(
      await tx
        .insert(snooze)
        .values({ ...scope, until, reason, created_by: caller.actor })
        .returning({ snooze_id: snooze.snooze_id }),
    )
    return { createdId: created.snooze_id }
  }),

  defineOperation(snoozeRoutes.delete, async ({ input: { snooze_id: snoozeId } }, tx) => {
    assertChanged(await tx.delete(snooze).where(eq(snooze.snooze_id, snoozeId)).returning())
  }),

  defineLookup(snoozeRoutes.get, async ({ input: { snooze_id: snoozeId } }, tx) => {
    const [row] = await tx.select().from(snooze).where(eq(snooze.snooze_id, snoozeId))
    return row
  }),

  defineOperation(snoozeRoutes.list, async ({ input: { site_id: siteId } }, tx) => ({
    value: await tx
      .select()
      .from(s)
      .where(
        and(
          activeCondition(sql`${now().toISOString()}::timestamptz`),
          siteId === undefined ? undefined : eq(s.site_id, siteId),
        ),
      )
      .orderBy(desc(s.created_at), desc(s.snooze_id)),
  })),
]

/** What a snooze covers: a site, one of its channels, or one of the channel's alerts. */
interface Scope {
  site_id: string
  channel_id: string | null
  alert_id: string | null
}

/** The fields of a request that name the record to snooze. */
interface RequestedScope {
  site_id?: string | undefined
  channel_id?: string | undefined
  alert_id?: string | undefined
}

/**
 * Returns the scope of a request. The API has checked that the request names one record, and
 * that the record exists.
 */
async function findScope(
  tx: Transaction,
  { site_id: siteId, channel_id: channelId, alert_id: alertId }: RequestedScope,
): Promise<Scope> {
  if (siteId) return { site_id: siteId, channel_id: null, alert_id: null }
  const [row] = await tx
    .select({ site_id: channel.site_id, channel_id: channel.channel_id })
    .from(channel)
    .leftJoin(alert, eq(alert.channel_id, channel.channel_id))
    .where(channelId ? eq(channel.channel_id, channelId) : eq(alert.alert_id, alertId!))
    .limit(1)
  return { ...row!, alert_id: alertId ?? null }
}

/**
 * Throws `EyrieError` (`conflict`) if no incident in the scope is open, because the snooze would
 * end with its incidents.
 */
async function assertOpenIncident(
  tx: Transaction,
  { site_id: siteId, channel_id: channelId, alert_id: alertId }: Scope,
): Promise<void> {
  const [open] = await tx
    .select({ incident_id: incident.incident_id })
    .from(incident)
    .innerJoin(channel, eq(channel.channel_id, incident.channel_id))
    .where(
      and(
        isNull(incident.ended_at),
        isNull(incident.resolved_at),
        eq(channel.site_id, siteId),
        channelId === null ? undefined : eq(incident.channel_id, channelId),
        alertId === null ? undefined : eq(incident.alert_id, alertId),
      ),
    )
    .limit(1)
  if (open) return
  throw new EyrieError(
    'conflict',
    'no incident is open that could be resolved: choose the duration hour or day',
  )
}
