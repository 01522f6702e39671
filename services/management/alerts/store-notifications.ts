import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import type { BBox } from '@eyrie/contract/object'
import { sql } from 'drizzle-orm'
import type { PgInsertValue } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'
import type { Transaction } from '../db/database.ts'
import { splitRows } from '../db/rows.ts'
import { notification } from '../db/schema/index.ts'
import { findActionType } from '../deliveries/action-type.ts'
import { smtpKind } from '../deliveries/delivery-settings.ts'
import { type NewDelivery, storeDeliveries } from '../deliveries/outbox.ts'
import type { MessageFrame } from '../events/ingest/ingest-port.ts'
import {
  findNearestPictures,
  type Moment,
  type NearestPicture,
  unnestMoments,
} from '../events/pictures/nearest-picture.ts'
import { type ShownPicture, schedulePictureFetches } from '../events/pictures/picture-fetch.ts'
import { createDeliveryGate } from '../incidents/delivery-gate.ts'
import { loadRunningIncidents } from '../incidents/running-incidents.ts'
import { readRedactedSettings } from '../settings/stored-settings.ts'
import type { ActiveAlert } from './active-alerts.ts'
import { createNotificationData, createRequest } from './notification-text.ts'

/**
 * How long to wait for the picture of the event that fired an alert, before a snapshot is
 * requested. On a busy machine, pictures arrive seconds after their events. The snapshot must
 * arrive before the messages that wait for a picture are sent (`outbox.ts`).
 */
const EVENT_PICTURE_MS = 2_000
/**
 * The engine merges the counts of this period, so the event behind a count may be this much
 * older than the count.
 */
const COUNT_INTERVAL_MS = 100

/** One firing of an alert. */
export interface FiredAlert {
  alert: ActiveAlert
  /** Epoch ms. */
  timeMs: number
  /** Value of the statistic that fired the alert. */
  value: number
  /**
   * When the condition had been released before the alert fired, in epoch ms.
   * Undefined if it had not.
   */
  previousReleasedAt: number | undefined
  /**
   * Frame of the message that fired the alert. Undefined if time has fired the
   * alert, without a message.
   */
  frame: MessageFrame | undefined
}

/** A firing with the picture nearest to it and the box of the object that caused it. */
interface PicturedFiring extends FiredAlert {
  nearest: NearestPicture | undefined
  /**
   * Whether the picture must still be fetched from the engine, or a snapshot if no
   * event has a picture.
   */
  isFetching: boolean
  bbox: BBox | null
}

/**
 * Stores a notification with its deliveries for each fired alert, as a part of the incident of the
 * alert. A delivery that is suppressed, for example because people know of the incident already, is
 * stored with the reason.
 *
 * Also schedules the fetch of the picture that is nearest to the notification, or of a snapshot if
 * there is none. `attachPictures` replaces the picture if a nearer one arrives.
 */
export async function storeNotifications(
  tx: Transaction,
  fired: readonly FiredAlert[],
): Promise<void> {
  if (fired.length === 0) return
  const { smtp_from: smtpFrom, smtp_attachment: smtpAttachment } = await readRedactedSettings(
    tx,
    smtpKind,
  )
  const alertIds = [...new Set(fired.map(({ alert }) => alert.alert_id))]
  const incidents = await loadRunningIncidents(tx, alertIds)
  const gate = await createDeliveryGate(tx, alertIds)

  const notifications: NotificationValues[] = []
  const deliveries: NewDelivery[] = []
  for (const firing of await findPictures(tx, fired)) {
    const { alert, timeMs, isFetching } = firing
    const { alert_id, channel_id } = alert
    const notificationUuid = v7()
    const details = describeFiring(firing)
    const requests = alert.actions.map(action => createRequest(action, details))
    const incident = await incidents.add({ notification_uuid: notificationUuid, ...firing })
    const { incident_id } = incident
    notifications.push({
      notification_uuid: notificationUuid,
      incident_id,
      notification_data: createNotificationData(requests, details, smtpFrom),
      ...toColumns(firing, details),
    })

    const decision = gate.decide(incident, alert, timeMs)
    for (const request of requests) {
      deliveries.push({
        kind: 'notification',
        alert_id,
        channel_id,
        notification_uuid: notificationUuid,
        incident_id,
        request,
        awaitsPicture: isFetching && containsPicture(request, smtpAttachment),
        suppression: decision.findSuppression(request.action),
        claimBudget: decision.claimBudget,
      })
    }
    // After the decision, which depends on earlier notifications of the incident only.
    if (decision.isNotified) incidents.markNotified(incident, alert, timeMs)
  }
  for (const rows of splitRows(notifications)) await tx.insert(notification).values(rows)
  await storeDeliveries(tx, deliveries)
  await incidents.store()
}

type NotificationValues = PgInsertValue<typeof notification>

/** Returns the columns of a notification that follow from the firing of its alert. */
function toColumns(
  { alert, timeMs, value, frame, nearest, bbox }: PicturedFiring,
  details: FiringDetails,
) {
  const snapshotDelayMs = frame ? EVENT_PICTURE_MS : 0
  return {
    channel_id: alert.channel_id,
    alert_id: alert.alert_id,
    usecase_key: alert.usecase_key,
    notification_time: new Date(timeMs),
    notification_extra: JSON.stringify(details),
    alert_name: alert.alert_name,
    condition: details.alert_threshold_condition,
    threshold: details.alert_threshold,
    threshold_key: details.alert_threshold_key,
    value,
    deliveries: [],
    epoch: frame?.epoch,
    pts: frame?.pts,
    bbox,
    picture: nearest?.picture,
    picture_offset: nearest?.picture_offset,
    next_snapshot: nearest ? null : sql`now() + ${snapshotDelayMs} * interval '1 millisecond'`,
  }
}

/** Finds the picture and the box of each firing, and schedules the fetch of the pictures. */
async function findPictures(
  tx: Transaction,
  fired: readonly FiredAlert[],
): Promise<PicturedFiring[]> {
  const nearestPictures = await findNearestPictures(tx, fired.map(toMoment))
  const boxes = await findBoxes(tx, fired)

  const shown: ShownPicture[] = []
  for (const [index, { alert, timeMs }] of fired.entries()) {
    const nearest = nearestPictures[index]
    if (!nearest) continue
    const { channel_id, is_storage } = alert
    shown.push({ sha256: nearest.picture, channel_id, is_storage, timeMs })
  }
  const fetching = await schedulePictureFetches(tx, shown)

  return fired.map((firing, index) => {
    const nearest = nearestPictures[index]
    const isFetching = !nearest || fetching.has(nearest.picture)
    return { ...firing, nearest, isFetching, bbox: boxes.get(firing) ?? null }
  })
}

const toMoment = ({ alert, timeMs }: FiredAlert): Moment => ({
  channel_id: alert.channel_id,
  timeMs,
})

/**
 * Finds the boxes of the objects that fired alerts: the box of the message's own frame, or of the
 * event that has changed the counters of the channel. An alert that time has fired has none.
 */
async function findBoxes(
  tx: Transaction,
  fired: readonly FiredAlert[],
): Promise<ReadonlyMap<FiredAlert, BBox>> {
  const boxes = new Map<FiredAlert, BBox>()
  const withoutBox: FiredAlert[] = []
  for (const firing of fired) {
    const { frame } = firing
    if (frame?.bbox) boxes.set(firing, frame.bbox)
    else if (frame) withoutBox.push(firing)
  }
  if (withoutBox.length === 0) return boxes

  const rows = await tx.execute<{ index: number; bbox: BBox }>(sql`
    select moment.index::int, latest.bbox
    from ${unnestMoments(withoutBox.map(toMoment))}
    cross join lateral (
      select event.data -> 'bbox' as bbox
      from event
      where event.channel_id = moment.channel_id
        and event.kind = 'event'
        and jsonb_exists(event.data, 'bbox')
        and event.time >= moment.time - ${COUNT_INTERVAL_MS} * interval '1 millisecond'
        and event.time <= moment.time
      order by event.time desc, event.seq desc
      limit 1
    ) latest`)
  // The index of a moment begins with 1.
  for (const { index, bbox } of rows) boxes.set(withoutBox[index - 1]!, bbox)
  return boxes
}

/** Returns whether a message contains the picture itself, not only its address. */
function containsPicture({ action }: DeliveryRequest, smtpAttachment: boolean): boolean {
  const type = findActionType(action)
  if (type === 'email') return smtpAttachment
  return type === 'webhook' && action.action_picture === 'inline'
}

/**
 * Returns the data for the placeholders in the alert's messages, under the column names of the
 * alert.
 */
const describeFiring = ({ alert, timeMs, value }: FiredAlert): FiringDetails => ({
  alert_name: alert.alert_name,
  alert_priority: alert.alert_priority,
  alert_threshold: alert.alert_threshold,
  alert_threshold_condition: alert.condition,
  alert_threshold_key: alert.statisticKey,
  channel_name: alert.channel_name,
  usecase_key: alert.usecase_key,
  value,
  time: new Date(timeMs).toISOString(),
})
