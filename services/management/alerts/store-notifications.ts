import { and, desc, eq, gt, isNotNull, lte, type SQL } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { event, notification, setting } from '../db/schema/index.ts'
import type { EventFrame } from '../events/ingest/ingest-port.ts'
import { requestPicture } from '../events/pictures/event-pictures.ts'
import type { ActiveAlert } from './active-alerts.ts'
import { type AlertFiring, createDeliveries, createNotificationData } from './notification-text.ts'

/** An alert that fires. */
export interface FiredAlert {
  alert: ActiveAlert
  /** Epoch ms. */
  timeMs: number
  value: number
  /** Undefined: the frame of the latest event is used. */
  frame: EventFrame | undefined
}

/** Stores a notification for each fired alert, with its deliveries, and requests its picture. */
export async function storeNotifications(tx: Transaction, fired: readonly FiredAlert[]): Promise<void> {
  if (fired.length === 0) return
  const sender = await readSender(tx)
  for (const { alert, timeMs, value, frame } of fired) {
    const { epoch, pts, picture } = frame ?? (await findLatestFrame(tx, alert, timeMs))
    const firing = toFiring(alert, timeMs, value)
    const deliveries = createDeliveries(alert.actions, firing)
    await tx.insert(notification).values({
      channel_id: alert.channel_id,
      alert_id: alert.alert_id,
      usecase_key: alert.usecase_key,
      notification_time: new Date(timeMs),
      notification_data: createNotificationData(deliveries, firing, sender),
      notification_extra: JSON.stringify(firing),
      alert_name: alert.alert_name,
      condition: alert.condition,
      threshold: alert.alert_threshold,
      threshold_key: alert.key,
      value,
      deliveries,
      epoch,
      pts,
      picture,
    })
    if (picture) await requestPicture(tx, picture, alert, timeMs)
  }
}

const toFiring = (alert: ActiveAlert, timeMs: number, value: number): AlertFiring => ({
  alert_name: alert.alert_name,
  alert_priority: alert.alert_priority,
  alert_threshold: alert.alert_threshold,
  alert_threshold_condition: alert.condition,
  alert_threshold_key: alert.key,
  channel_name: alert.channel_name,
  usecase_key: alert.usecase_key,
  value,
  time: new Date(timeMs).toISOString(),
})

/** Returns the sender address of the mail settings, or an empty string. */
async function readSender(tx: Transaction): Promise<string> {
  const [smtp] = await tx.select().from(setting).where(eq(setting.name, 'smtp'))
  const { smtp_from } = (smtp?.value ?? {}) as { smtp_from?: unknown }
  return typeof smtp_from === 'string' ? smtp_from : ''
}

/**
 * Returns the frame of the latest event within the window of the alert. If its picture has not arrived yet, the latest
 * available picture is used until then.
 */
async function findLatestFrame(tx: Transaction, alert: ActiveAlert, timeMs: number): Promise<EventFrame> {
  const findLatest = async (condition?: SQL) => {
    const [row] = await tx
      .select({ epoch: event.epoch, pts: event.pts, picture: event.picture })
      .from(event)
      .where(
        and(
          eq(event.channel_id, alert.channel_id),
          eq(event.kind, 'event'),
          gt(event.time, new Date(timeMs - alert.seconds * 1000)),
          lte(event.time, new Date(timeMs)),
          condition,
        ),
      )
      .orderBy(desc(event.time), desc(event.seq))
      .limit(1)
    return row
  }
  const latest = await findLatest()
  if (!latest) return { epoch: null, pts: null, picture: null }
  if (latest.picture) return latest
  const withPicture = await findLatest(isNotNull(event.picture))
  return { ...latest, picture: withPicture?.picture ?? null }
}
