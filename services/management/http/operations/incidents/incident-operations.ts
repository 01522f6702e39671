import { incidentRoutes } from '@eyrie/contract/management/incident'
import { parseTime } from '@eyrie/contract/management/time-expression'
import { and, eq, gte, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, incident } from '../../../db/schema/index.ts'
import { toTimestamp } from '../../../db/sql-values.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { defineLookup, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'
import { readIncidents, STATE_CONDITIONS } from './incident-response.ts'

/**
 * API operations on incidents. An incident groups the notifications that an alert sends while its
 * condition holds. Users acknowledge and resolve it. `assertChanged` throws if the caller may read
 * an incident but not change it.
 */
export const incidentOperations = (now: () => Date): Operation[] => [
  defineOperation(incidentRoutes.list, async ({ input }, tx) => {
    const { site_id, channel_id, alert_id, incident_state, start, end } = input
    // The contract admits only valid times.
    const toTime = (text: string) => new Date(parseTime(text, now().getTime())!)
    const condition = and(
      site_id === undefined ? undefined : eq(channel.site_id, site_id),
      channel_id === undefined ? undefined : eq(incident.channel_id, channel_id),
      alert_id === undefined ? undefined : eq(incident.alert_id, alert_id),
      incident_state && STATE_CONDITIONS[incident_state],
      start === undefined ? undefined : createNotEndedCondition(toTime(start)),
      end === undefined ? undefined : lt(incident.started_at, toTime(end)),
    )
    const page = { limit: input.incident_limit, offset: input.incident_offset }
    return { value: await readIncidents(tx, condition, page) }
  }),

  defineLookup(incidentRoutes.get, ({ input }, tx) => findIncident(tx, input.incident_id)),

  defineOperation(incidentRoutes.acknowledge, async ({ input, caller }, tx) => {
    await updateIncident(tx, input.incident_id, createAcknowledgement(caller.actor, now()))
    return { value: await getIncident(tx, input.incident_id) }
  }),

  defineOperation(incidentRoutes.resolve, async ({ input, caller }, tx) => {
    await updateIncident(tx, input.incident_id, createResolution(caller.actor, now()))
    return { value: await getIncident(tx, input.incident_id) }
  }),
]

/** Returns the SQL condition that an incident has not ended before this time. */
const createNotEndedCondition = (time: Date): SQL | undefined =>
  or(isNull(incident.ended_at), gte(incident.ended_at, time))

/**
 * Returns the columns of an incident that a user acknowledges. They name the first user who has
 * acknowledged it, and stop its escalation.
 */
const createAcknowledgement = (actor: string, time: Date) => ({
  acknowledged_by: sql`case when acknowledged_at is null then ${actor} else acknowledged_by end`,
  acknowledged_at: sql`coalesce(acknowledged_at, ${toTimestamp(time)})`,
  escalates_at: null,
})

/**
 * Returns the columns of an incident that a user resolves, which also acknowledges it. They name
 * the first user who has resolved it.
 */
const createResolution = (actor: string, time: Date) => ({
  ...createAcknowledgement(actor, time),
  resolved_by: sql`case when resolved_at is null then ${actor} else resolved_by end`,
  resolved_at: sql`coalesce(resolved_at, ${toTimestamp(time)})`,
})

async function updateIncident(
  tx: Transaction,
  incidentId: string,
  columns: Record<string, SQL | null>,
): Promise<void> {
  assertChanged(
    await tx
      .update(incident)
      .set(columns)
      .where(eq(incident.incident_id, incidentId))
      .returning({ incident_id: incident.incident_id }),
  )
}

async function findIncident(tx: Transaction, incidentId: string) {
  const [row] = await readIncidents(tx, eq(incident.incident_id, incidentId), {
    limit: 1,
    offset: 0,
  })
  return row
}

/** Throws `EyrieError` (`id`) if the incident does not exist. */
async function getIncident(tx: Transaction, incidentId: string) {
  const row = await findIncident(tx, incidentId)
  if (!row) throw missingRecords([{ field: 'incident_id', record: 'incident' }])
  return row
}
