import type { Incident, IncidentState } from '@eyrie/contract/management/incident'
import { notificationRoutes } from '@eyrie/contract/management/notification'
import { desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, incident, notification, source } from '../../../db/schema/index.ts'
import { formatTextArray } from '../../../db/text-array.ts'

/** Time before the first and after the last notification that the clip of an incident shows. */
const CLIP_BEFORE_MS = 5_000
const CLIP_AFTER_MS = 10_000
/** Media exports no longer clips. */
const MAX_CLIP_MS = 4 * 3_600_000

/** Only the recordings of the appliance's own engine can be read through management. */
const clipStream = sql<
  number | null
>`case when ${channel.engine_id} = local_engine_id() then ${source.source_sid} end`

const { notification_uuid, picture, bbox } = getTableColumns(notification)
const columns = {
  ...getTableColumns(incident),
  ...{ notification_uuid, picture, bbox },
  channel_name: channel.channel_name,
  site_id: channel.site_id,
  clipStream,
}

/** The condition that an incident is in a state. */
export const STATE_CONDITIONS: Record<IncidentState, SQL> = {
  open: sql`${incident.ended_at} is null and ${incident.resolved_at} is null and ${incident.acknowledged_at} is null`,
  acknowledged: sql`${incident.ended_at} is null and ${incident.resolved_at} is null and ${incident.acknowledged_at} is not null`,
  resolved: sql`(${incident.ended_at} is not null or ${incident.resolved_at} is not null)`,
}

/** Returns a page of the incidents that meet a condition, newest first, as the API shows them. */
export async function readIncidents(
  tx: Transaction,
  condition: SQL | undefined,
  { limit, offset }: { limit: number; offset: number },
): Promise<Incident[]> {
  const rows = await tx
    .select(columns)
    .from(incident)
    .innerJoin(channel, eq(channel.channel_id, incident.channel_id))
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .leftJoin(notification, eq(notification.notification_uuid, incident.best_notification))
    .where(condition)
    .orderBy(desc(incident.started_at), desc(incident.incident_id))
    .limit(limit)
    .offset(offset)
  const others = await findOtherPictures(tx, rows)
  return rows.map(row => toIncident({ ...row, ...others.get(row.incident_id) }))
}

type Row = typeof incident.$inferSelect &
  Pick<typeof channel.$inferSelect, 'channel_name' | 'site_id'> &
  Illustration & { clipStream: number | null }

/** The notification that illustrates an incident. */
interface Illustration {
  notification_uuid: string | null
  picture: string | null
  bbox: Incident['bbox']
}

/** Returns the first notification with a picture for the incidents whose best notification has none, by incident id. */
async function findOtherPictures(
  tx: Transaction,
  rows: readonly { incident_id: string; picture: string | null }[],
): Promise<Map<string, Illustration>> {
  const ids = rows.flatMap(({ incident_id, picture }) => (picture === null ? [incident_id] : []))
  if (ids.length === 0) return new Map()
  const found = await tx.execute<{ incident_id: string } & Record<string, unknown>>(sql`
    select distinct on (incident_id) incident_id, notification_uuid, picture, bbox from notification
    where incident_id = any (${formatTextArray(ids)}::uuid[]) and picture is not null
    order by incident_id, notification_time`)
  return new Map(
    found.map(({ incident_id, ...illustration }) => [incident_id, illustration as unknown as Illustration]),
  )
}

const toIncident = (row: Row): Incident =>
  ({
    ...row,
    alert_priority: row.alert_priority as Incident['alert_priority'],
    incident_state: findState(row),
    incident_count: row.count,
    image_url: toImageUrl(row),
    clip_url: toClipUrl(row),
  }) as unknown as Incident

function findState({ ended_at, resolved_at, acknowledged_at }: Row): IncidentState {
  if (ended_at || resolved_at) return 'resolved'
  return acknowledged_at ? 'acknowledged' : 'open'
}

function toImageUrl({ picture, channel_id, notification_uuid }: Row): string {
  if (picture === null || notification_uuid === null) return ''
  return `/api/v1${notificationRoutes.image.path}?${new URLSearchParams({ channel_id, notification_uuid })}`
}

function toClipUrl({ clipStream, started_at, last_at, ended_at }: Row): string {
  if (clipStream === null) return ''
  const fromMs = started_at.getTime() - CLIP_BEFORE_MS
  const toMs = (ended_at ?? last_at).getTime() + CLIP_AFTER_MS
  const query = new URLSearchParams({
    from: new Date(fromMs).toISOString(),
    to: new Date(Math.min(toMs, fromMs + MAX_CLIP_MS)).toISOString(),
  })
  return `/live/recordings/${clipStream}/clip.mp4?${query}`
}
