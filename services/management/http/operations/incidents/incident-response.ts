import type { Incident, IncidentState } from '@eyrie/contract/management/incident'
import { notificationRoutes } from '@eyrie/contract/management/notification'
import { desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, incident, notification, source } from '../../../db/schema/index.ts'
import { formatTextArray } from '../../../db/text-array.ts'

const UNRESOLVED = sql`${incident.ended_at} is null and ${incident.resolved_at} is null`
/** Time before the first and after the last notification that the clip of an incident shows. */
const CLIP_BEFORE_MS = 5_000
const CLIP_AFTER_MS = 10_000
/** The media service exports no longer clips. */
const MAX_CLIP_MS = 4 * 3_600_000

/** Returns a page of the incidents that meet a condition, newest first, as the API shows them. */
export async function readIncidents(
  tx: Transaction,
  condition: SQL | undefined,
  { limit, offset }: { limit: number; offset: number },
): Promise<Incident[]> {
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
  const otherIllustrations = await findOtherIllustrations(tx, rows)
  return rows.map(row => toIncident({ ...row, ...otherIllustrations.get(row.incident_id) }))
}

/** The SQL conditions for the states of incidents. `findState` applies the same rules to a row. */
export const STATE_CONDITIONS: Record<IncidentState, SQL> = {
  open: sql`${UNRESOLVED} and ${incident.acknowledged_at} is null`,
  acknowledged: sql`${UNRESOLVED} and ${incident.acknowledged_at} is not null`,
  resolved: sql`not (${UNRESOLVED})`,
}

const INCIDENT_COLUMNS = {
  ...getTableColumns(incident),
  notification_uuid: notification.notification_uuid,
  picture: notification.picture,
  bbox: notification.bbox,
  channel_name: channel.channel_name,
  site_id: channel.site_id,
  // The stream with the recording. Management can read only the recordings of the
  // appliance's own engine.
  clipStream: sql<
    number | null
  >`case when ${channel.engine_id} = local_engine_id() then ${source.source_sid} end`,
}

type IncidentRow = typeof incident.$inferSelect &
  Pick<typeof channel.$inferSelect, 'channel_name' | 'site_id'> &
  Illustration & { clipStream: number | null }

/** The notification whose picture illustrates an incident. */
interface Illustration {
  notification_uuid: string | null
  picture: string | null
  bbox: Incident['bbox']
}

/**
 * For the incidents whose best notification has no picture, returns their first notification with a
 * picture, by incident id.
 */
async function findOtherIllustrations(
  tx: Transaction,
  rows: readonly { incident_id: string; picture: string | null }[],
): Promise<Map<string, Illustration>> {
  const ids = rows.flatMap(({ incident_id, picture }) => (picture === null ? [incident_id] : []))
  if (ids.length === 0) return new Map()
  const notifications = await tx.execute<{ incident_id: string } & Record<string, unknown>>(sql`
    select distinct on (incident_id) incident_id, notification_uuid, picture, bbox from notification
    where incident_id = any (${formatTextArray(ids)}::uuid[]) and picture is not null
    order by incident_id, notification_time`)
  return new Map(
    notifications.map(({ incident_id: incidentId, ...illustration }) => [
      incidentId,
      // The query selects the columns of an illustration.
      illustration as unknown as Illustration,
    ]),
  )
}

/** The casts are safe, because constraints of the database admit only valid incidents. */
const toIncident = (row: IncidentRow): Incident =>
  ({
    ...row,
    alert_priority: row.alert_priority as Incident['alert_priority'],
    incident_state: findState(row),
    incident_count: row.count,
    image_url: toImageUrl(row),
    clip_url: toClipUrl(row),
  }) as unknown as Incident

function findState({
  ended_at: endedAt,
  resolved_at: resolvedAt,
  acknowledged_at: acknowledgedAt,
}: IncidentRow): IncidentState {
  if (endedAt || resolvedAt) return 'resolved'
  return acknowledgedAt ? 'acknowledged' : 'open'
}

/** Returns the path of the picture, or an empty text if there is none. */
function toImageUrl({
  picture,
  channel_id: channelId,
  notification_uuid: notificationUuid,
}: IncidentRow): string {
  if (picture === null || notificationUuid === null) return ''
  return `/api/v1${notificationRoutes.image.path}?${new URLSearchParams({ channel_id: channelId, notification_uuid: notificationUuid })}`
}

/**
 * Returns the path of the recording of an incident, or an empty text if management cannot read it.
 */
function toClipUrl({
  clipStream,
  started_at: startedAt,
  last_at: lastAt,
  ended_at: endedAt,
}: IncidentRow): string {
  if (clipStream === null) return ''
  const fromMs = startedAt.getTime() - CLIP_BEFORE_MS
  const toMs = (endedAt ?? lastAt).getTime() + CLIP_AFTER_MS
  const query = new URLSearchParams({
    from: new Date(fromMs).toISOString(),
    to: new Date(Math.min(toMs, fromMs + MAX_CLIP_MS)).toISOString(),
  })
  return `/live/recordings/${clipStream}/clip.mp4?${query}`
}
