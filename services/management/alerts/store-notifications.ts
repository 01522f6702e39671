import { and, desc, eq, gt, isNotNull, lte, type SQL } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { event, notification, setting } from '../db/schema/index.ts'
import type { EventFrame } from '../events/ingest/ingest-port.ts'
import { schedulePictureFetch } from '../events/pictures/event-pictures.ts'
import type { ActiveAlert } from './active-alerts.ts'
import { createDeliveries, createNotificationData, type FiringDetails } from './notification-text.ts'

/** One firing of an alert. */
export interface FiredAlert {
  alert: ActiveAlert
  /** Epoch ms. */
  timeMs: number
  /** Value of the statistic that fired the alert. */
  value: number
  /** Frame of the event that fired the alert. Undefined if the alert was fired by the clock rather than by an event. */
  frame: EventFrame | undefined
}

/** Stores a notification with its deliveries for each fired alert, and schedules the fetch of its picture. */
export async function storeNotifications(tx: Transaction, fired: readonly FiredAlert[]): Promise<void> {
  if (fired.length === 0) return
  const sender = await readSender(tx)
  for (const { alert, timeMs, value, frame: eventFrame } of fired) {
    const { epoch, pts, picture } = eventFrame ?? (await findLatestFrame(tx, alert, timeMs))
    const details = describeFiring(alert, timeMs, value)
    const deliveries = createDeliveries(alert.actions, details)
    await tx.insert(notification).values({
      channel_id: alert.channel_id,
      alert_id: alert.alert_id,
      usecase_key: alert.usecase_key,
      notification_time: new Date(timeMs),
      notification_data: createNotificationData(deliveries, details, sender),
      notification_extra: JSON.stringify(details),
      alert_name: alert.alert_name,
      condition: details.alert_threshold_condition,
      threshold: details.alert_threshold,
      threshold_key: details.alert_threshold_key,
      value,
      deliveries,
      epoch,
      pts,
      picture,
    })
    if (picture) await schedulePictureFetch(tx, picture, alert, timeMs)
  }
}

/** Returns the data for the placeholders in the alert's messages, under the column names of the alert. */
const describeFiring = (alert: ActiveAlert, timeMs: number, value: number): FiringDetails => ({
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

/** Returns the sender address of the e-mail settings, or an empty string. */
async function readSender(tx: Transaction): Promise<string> {
  const [smtp] = await tx.select().from(setting).where(eq(setting.name, 'smtp'))
  const { smtp_from } = (smtp?.value ?? {}) as { smtp_from?: unknown }
  return typeof smtp_from === 'string' ? smtp_from : ''
}

/**
 * Returns the frame of the latest event within the window of the alert. While the picture of this frame is missing, the
 * latest available picture is its placeholder. `attachPictures` replaces the placeholder when the picture arrives.
 */
async function findLatestFrame(tx: Transaction, alert: ActiveAlert, timeMs: number): Promise<EventFrame> {
  const latestEvent = await findLatestEvent(tx, alert, timeMs)
  if (!latestEvent) return { epoch: null, pts: null, picture: null }
  if (latestEvent.picture) return latestEvent

  const eventWithPicture = await findLatestEvent(tx, alert, timeMs, isNotNull(event.picture))
  return { ...latestEvent, picture: eventWithPicture?.picture ?? null }
}

/** Returns the frame of the latest event that meets a condition, within the alert's window that ends at `timeMs`. */
async function findLatestEvent(
  tx: Transaction,
  { channel_id, windowSeconds }: ActiveAlert,
  timeMs: number,
  condition?: SQL,
): Promise<EventFrame | undefined> {
  const windowStart = new Date(timeMs - windowSeconds * 1000)
  const [frame] = await tx
    .select({ epoch: event.epoch, pts: event.pts, picture: event.picture })
    .from(event)
    .where(
      and(
        eq(event.channel_id, channel_id),
        eq(event.kind, 'event'),
        gt(event.time, windowStart),
        lte(event.time, new Date(timeMs)),
        condition,
      ),
    )
    .orderBy(desc(event.time), desc(event.seq))
    .limit(1)
  return frame
}
