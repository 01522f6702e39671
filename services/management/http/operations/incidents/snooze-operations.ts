import { EyrieError } from '@eyrie/contract'
import { type SnoozeDuration, snoozeRoutes } from '@eyrie/contract/management/snooze'
import { and, desc, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { alert, channel, incident, snooze } from '../../../db/schema/index.ts'
import { toTimestamp } from '../../../db/sql-values.ts'
import { activeCondition } from '../../../incidents/active-snoozes.ts'
import { defineLookup, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/** The durations of a fixed length. A snooze `resolved` lasts until its incidents are resolved. */
const DURATIONS_MS: Record<Exclude<SnoozeDuration, 'resolved'>, number> = {
  hour: 3_600_000,
  day: 86_400_000,
}

/**
 * API operations on snoozes. While a snooze of an alert, of its channel or of its site is active,
 * no one is informed of the alert.
 */
export const snoozeOperations = (now: () => Date): Operation[] => [
  defineOperation(snoozeRoutes.create, async ({ input, caller }, tx) => {
    const { duration, reason } = input
    const scope = await findScope(tx, input)
    let until: Date | null = null
    if (duration === 'resolved') await assertOpenIncident(tx, scope)
    else until = new Date(now().getTime() + DURATIONS_MS[duration])
    const created = firstRow(
      await tx
        .insert(snooze)
        .values({ ...scope, until, reason, created_by: caller.actor })
        .returning({ snooze_id: snooze.snooze_id }),
    )
    return { createdId: created.snooze_id }
  }),

  defineOperation(snoozeRoutes.delete, async ({ input }, tx) => {
    const isRequested = eq(snooze.snooze_id, input.snooze_id)
    assertChanged(await tx.delete(snooze).where(isRequested).returning())
  }),

  defineLookup(snoozeRoutes.get, async ({ input }, tx) => {
    const [row] = await tx.select().from(snooze).where(eq(snooze.snooze_id, input.snooze_id))
    return row
  }),

  defineOperation(snoozeRoutes.list, async ({ input: { site_id } }, tx) => {
    const isActive = activeCondition(toTimestamp(now()))
    const isOnSite = site_id === undefined ? undefined : eq(snooze.site_id, site_id)
    const value = await tx
      .select()
      .from(snooze)
      .where(and(isActive, isOnSite))
      .orderBy(desc(snooze.created_at), desc(snooze.snooze_id))
    return { value }
  }),
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
  { site_id, channel_id, alert_id }: RequestedScope,
): Promise<Scope> {
  if (site_id) return { site_id, channel_id: null, alert_id: null }
  const ids = { site_id: channel.site_id, channel_id: channel.channel_id }

  if (channel_id) {
    const rows = await tx.select(ids).from(channel).where(eq(channel.channel_id, channel_id))
    return { ...firstRow(rows), alert_id: null }
  }
  if (alert_id) {
    const rows = await tx
      .select(ids)
      .from(channel)
      .innerJoin(alert, eq(alert.channel_id, channel.channel_id))
      .where(eq(alert.alert_id, alert_id))
    return { ...firstRow(rows), alert_id }
  }
  throw new Error('the contract requires one of the three ids')
}

/**
 * Throws `EyrieError` (`conflict`) if no incident in the scope is open. A snooze that lasts until
 * the incidents are resolved would end at once.
 */
async function assertOpenIncident(
  tx: Transaction,
  { site_id, channel_id, alert_id }: Scope,
): Promise<void> {
  const [open] = await tx
    .select({ incident_id: incident.incident_id })
    .from(incident)
    .innerJoin(channel, eq(channel.channel_id, incident.channel_id))
    .where(
      and(
        isNull(incident.ended_at),
        isNull(incident.resolved_at),
        eq(channel.site_id, site_id),
        channel_id === null ? undefined : eq(incident.channel_id, channel_id),
        alert_id === null ? undefined : eq(incident.alert_id, alert_id),
      ),
    )
    .limit(1)
  if (open) return
  throw new EyrieError(
    'conflict',
    'no incident is open that could be resolved: choose the duration hour or day',
  )
}
