import type { IncidentState, incident as incidentSchema } from '@eyrie/contract/management/incident'
import { and, desc, eq, getTableColumns, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Transaction } from '../../../db/database.ts'
import { channel, incident, notification, source } from '../../../db/schema/index.ts'
import { isAnyOf } from '../../../db/text-array.ts'
import { toClipUrl, toImageUrl } from '../../api/response-urls.ts'

/** An incident as an operation returns it. The API writes its `Date` objects as text. */
type IncidentResponse = z.input<typeof incidentSchema>

/**
 * The notification whose picture illustrates an incident. All fields are null if it was
 * deleted.
 */
interface Illustration {
  notification_uuid: string | null
  picture: string | null
  bbox: IncidentResponse['bbox']
}

const UNRESOLVED = sql`${incident.ended_at} is null and ${incident.resolved_at} is null`

/** The SQL condition for each state of an incident. Exactly one of them is true. */
export const STATE_CONDITIONS: Record<IncidentState, SQL> = {
  open: sql`${UNRESOLVED} and ${incident.acknowledged_at} is null`,
  acknowledged: sql`${UNRESOLVED} and ${incident.acknowledged_at} is not null`,
  resolved: sql`not (${UNRESOLVED})`,
}

const INCIDENT_COLUMNS = {
  ...getTableColumns(incident),
  incident_count: incident.count,
  incident_state: sql<IncidentState>`case
    when ${STATE_CONDITIONS.open} then 'open'
    when ${STATE_CONDITIONS.acknowledged} then 'acknowledged'
    else 'resolved'
  end`,
  channel_name: channel.channel_name,
  site_id: channel.site_id,
  // These columns describe the best notification.
  notification_uuid: notification.notification_uuid,
  picture: notification.picture,
  bbox: notification.bbox,
  // `toClipUrl` needs the stream that was recorded. It is null for other engines, because
  // management can read only the recordings of the appliance's own engine.
  clipStream: sql<number | null>`case
    when ${channel.engine_id} = local_engine_id() then ${source.source_sid}
  end`,
}

/** Returns a page of the incidents that meet a condition, newest first. */
export async function readIncidents(
  tx: Transaction,
  condition: SQL | undefined,
  { limit, offset }: { limit: number; offset: number },
): Promise<IncidentResponse[]> {
  const rows = await tx
    .select(INCIDENT_COLUMNS)
    .from(incident)
    .innerJoin(channel, eq(channel.channel_id, incident.channel_id))
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .leftJoin(notification, eq(notification.notification_uuid, incident.best_notification))
    .where(condition)
    .orderBy(desc(incident.started_at), desc(incident.incident_id))
    .limit(limit)
    .offset(offset)

  const substitutes = await findSubstitutes(tx, rows)
  return rows.map(row => {
    // The best notification illustrates the incident, unless only another one has a picture.
    const { notification_uuid, picture, bbox }: Illustration =
      substitutes.get(row.incident_id) ?? row
    return {
      // The API omits the columns that are not fields of an incident.
      ...row,
      // A constraint of the database admits only the priorities of the contract.
      alert_priority: row.alert_priority as IncidentResponse['alert_priority'],
      notification_uuid,
      bbox,
      image_url: toImageUrl({ channel_id: row.channel_id, notification_uuid, picture }),
      clip_url: toClipUrl(row),
    }
  })
}

/**
 * Finds illustrations for the incidents whose best notification has no picture: the first of their
 * notifications that has one. Returns them by incident id.
 */
async function findSubstitutes(
  tx: Transaction,
  incidents: readonly { incident_id: string; picture: string | null }[],
): Promise<ReadonlyMap<string | null, Illustration>> {
  const withoutPicture = incidents.filter(({ picture }) => picture === null)
  const ids = withoutPicture.map(({ incident_id }) => incident_id)
  if (ids.length === 0) return new Map()

  const rows = await tx
    // One row for each incident: the first in the order of time.
    .selectDistinctOn([notification.incident_id], {
      incident_id: notification.incident_id,
      notification_uuid: notification.notification_uuid,
      picture: notification.picture,
      bbox: notification.bbox,
    })
    .from(notification)
    .where(and(isAnyOf(notification.incident_id, ids), isNotNull(notification.picture)))
    .orderBy(notification.incident_id, notification.notification_time)
  return new Map(rows.map(({ incident_id, ...illustration }) => [incident_id, illustration]))
}
