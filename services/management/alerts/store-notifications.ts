import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import type { BBox } from '@eyrie/contract/object'
import { sql } from 'drizzle-orm'
import type { PgInsertValue } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'
import type { Transaction } from '../db/database.ts'
import { notification } from '../db/schema/index.ts'
import { splitRows } from '../db/split-rows.ts'
import { findActionType } from '../deliveries/action-type.ts'
import { readRedactedSettings, smtpKind } from '../deliveries/delivery-settings.ts'
import { type NewDelivery, storeDeliveries } from '../deliveries/outbox.ts'
import type { MessageFrame } from '../events/ingest/ingest-port.ts'
import { findNearestPictures, unnestMoments } from '../events/pictures/nearest-picture.ts'
import { schedulePictureFetches } from '../events/pictures/picture-fetch.ts'
import { createDeliveryGate } from '../incidents/delivery-gate.ts'
import { loadRunningIncidents } from '../incidents/running-incidents.ts'
import type { ActiveAlert } from './active-alerts.ts'
import { createNotificationData, createRequest } from './notification-text.ts'

/**
 * On a busy machine, the picture of an event arrives seconds after the event. A snapshot is requested if it takes longer than this,
 * which leaves time to fetch it before the messages that wait for a picture are sent (`outbox.ts`).
 */
const EVENT_PICTURE_MS = 2_000

/** One firing of an alert. */
export interface FiredAlert {
  alert: ActiveAlert
  /** Epoch ms. */
  timeMs: number
  /** Value of the statistic that fired the alert. */
  value: number
  /** Since when the condition had been released before, in epoch ms. Undefined if it held on. */
  releasedMs: number | undefined
  /** Frame of the message that fired the alert. Undefined if the alert was fired by the clock rather than by a message. */
  frame: MessageFrame | undefined
}

/**
 * Stores a notification with its deliveries for each fired alert, as a part of the incident of the alert. What is not sent, for
 * example because people know of the incident already, is stored with the reason. Schedules the fetch of the picture that is
 * nearest to its time, or a snapshot if no event has a picture of this moment. `attachPictures` replaces it if a nearer one
 * arrives.
 */
export async function storeNotifications(tx: Transaction, fired: readonly FiredAlert[]): Promise<void> {
  if (fired.length === 0) return
  const { smtp_from, smtp_attachment } = await readRedactedSettings(tx, smtpKind)
  const alertIds = [...new Set(fired.map(({ alert }) => alert.alert_id))]
  const incidents = await loadRunningIncidents(tx, alertIds)
  const gate = await createDeliveryGate(tx, alertIds)
  const pictures = await findPictures(tx, fired)
  const boxes = await findBoxes(tx, fired)

  const notifications: PgInsertValue<typeof notification>[] = []
  const deliveries: NewDelivery[] = []
  for (const [index, { alert, timeMs, value, releasedMs, frame }] of fired.entries()) {
    const { alert_id, channel_id } = alert
    const { nearest, isFetching } = pictures[index]!
    const details = describeFiring(alert, timeMs, value)
    const requests = alert.actions.map(action => createRequest(action, details))
    const bbox = boxes[index] ?? null
    const notification_uuid = v7()
    const incident = await incidents.add({ alert, notification_uuid, timeMs, value, bbox, releasedMs })
    const { incident_id } = incident
    notifications.push({
      notification_uuid,
      incident_id,
      channel_id,
      alert_id,
      usecase_key: alert.usecase_key,
      notification_time: new Date(timeMs),
      notification_data: createNotificationData(requests, details, smtp_from),
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
      next_snapshot: nearest ? null : sql`now() + ${frame ? EVENT_PICTURE_MS : 0} * interval '1 millisecond'`,
    })

    const notificationGate = gate.open(incident, alert, timeMs)
    for (const request of requests)
      deliveries.push({
        ...{ kind: 'notification', alert_id, channel_id, notification_uuid, incident_id, request },
        awaitsPicture: isFetching && containsPicture(request, smtp_attachment),
        suppression: await notificationGate.findSuppression(request),
      })
    if (notificationGate.isNotified) incidents.markNotified(incident, alert, timeMs)
  }
  for (const rows of splitRows(notifications)) await tx.insert(notification).values(rows)
  await storeDeliveries(tx, deliveries)
  await incidents.store()
}

/** The picture that is nearest to the time of each fired alert, and whether it must be fetched first. */
async function findPictures(tx: Transaction, fired: readonly FiredAlert[]) {
  const moments = fired.map(({ alert: { channel_id }, timeMs }) => ({ channel_id, timeMs }))
  const nearest = await findNearestPictures(tx, moments)
  const shown = fired.flatMap(({ alert: { channel_id, is_storage }, timeMs }, index) => {
    const found = nearest[index]
    return found ? [{ sha256: found.picture, channel_id, is_storage, timeMs }] : []
  })
  const fetching = await schedulePictureFetches(tx, shown)
  return nearest.map(found => ({ nearest: found, isFetching: !found || fetching.has(found.picture) }))
}

/** Returns whether a message contains the picture itself, not only its address. */
function containsPicture({ action }: DeliveryRequest, smtp_attachment: boolean): boolean {
  const type = findActionType(action)
  return type === 'email' ? smtp_attachment : type === 'webhook' && action.action_picture === 'inline'
}

/** Returns the data for the placeholders in the alert's messages, under the column names of the alert. */
export const describeFiring = (alert: ActiveAlert, timeMs: number, value: number): FiringDetails => ({
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

/** The engine merges the counts of this period, so that the event behind a count may be this much older. */
const COUNT_INTERVAL_MS = 100

/**
 * Returns the box of the object that fired each alert: that of its frame, or that of the event that has changed the counters of the
 * channel. Null if no event has one, and undefined for an alert that the clock has fired.
 */
async function findBoxes(
  tx: Transaction,
  fired: readonly FiredAlert[],
): Promise<(BBox | null | undefined)[]> {
  const counted = fired.filter(({ frame }) => frame && !frame.bbox)
  if (counted.length === 0) return fired.map(({ frame }) => frame?.bbox)
  const moments = counted.map(({ alert: { channel_id }, timeMs }) => ({ channel_id, timeMs }))
  const rows = await tx.execute<{ index: number; bbox: BBox }>(sql`
    select m.index::int, latest.bbox
    from ${unnestMoments(moments)}
    cross join lateral (
      select e.data -> 'bbox' as bbox from event e
      where e.channel_id = m.channel_id and e.kind = 'event' and jsonb_exists(e.data, 'bbox')
        and e.time between m.time - ${COUNT_INTERVAL_MS} * interval '1 millisecond' and m.time
      order by e.time desc, e.seq desc limit 1
    ) latest`)
  const found = new Map(rows.map(({ index, bbox }) => [counted[index - 1], bbox]))
  return fired.map(firing => firing.frame && (firing.frame.bbox ?? found.get(firing) ?? null))
}
