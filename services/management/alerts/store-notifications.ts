import type { AlertAction } from '@eyrie/contract/management/alert'
import { and, desc, eq, gt, isNotNull, lte } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { event, notification, setting } from '../db/schema/index.ts'
import type { EventFrame } from '../events/ingest/ingest-port.ts'
import { requestPicture } from '../events/pictures/request-picture.ts'
import { deliveriesOf, type Firing, notificationData } from './notification-text.ts'
import type { Watched } from './watched-alerts.ts'

/** An alert that fires: when, by what value, and at which frame; undefined: at that of the newest event. */
export interface Fired {
  alert: Watched
  /** Epoch ms. */
  at: number
  value: number
  frame: EventFrame | undefined
}

/** Stores what alerts tell of, ready to be sent. */
export async function storeNotifications(tx: Transaction, fired: readonly Fired[]): Promise<void> {
  if (fired.length === 0) return
  const from = await sender(tx)
  for (const { alert, at, value, frame } of fired) {
    const { epoch, pts, picture } = frame ?? (await newestFrame(tx, alert, at))
    const firing = firingOf(alert, at, value)
    const deliveries = deliveriesOf(alert.actions as AlertAction[], firing)
    await tx.insert(notification).values({
      channel_id: alert.channel_id,
      alert_id: alert.alert_id,
      usecase_key: alert.usecase_key,
      notification_time: new Date(at),
      notification_data: notificationData(deliveries, firing, from),
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
    if (picture) await requestPicture(tx, picture, alert, at)
  }
}

const firingOf = (alert: Watched, at: number, value: number): Firing => ({
  alert_name: alert.alert_name,
  alert_priority: alert.alert_priority,
  alert_threshold: alert.alert_threshold,
  alert_threshold_condition: alert.condition,
  alert_threshold_key: alert.key,
  channel_name: alert.channel_name,
  usecase_key: alert.usecase_key,
  value,
  time: new Date(at).toISOString(),
})

/** Whom mails come from, as the settings say. */
async function sender(tx: Transaction): Promise<string> {
  const [smtp] = await tx.select().from(setting).where(eq(setting.name, 'smtp'))
  const { smtp_from } = (smtp?.value ?? {}) as { smtp_from?: unknown }
  return typeof smtp_from === 'string' ? smtp_from : ''
}

/** Of the newest event within the alert's time; until its own picture comes, the newest that there is stands in for it. */
async function newestFrame(tx: Transaction, alert: Watched, at: number): Promise<EventFrame> {
  const within = [
    eq(event.channel_id, alert.channel_id),
    eq(event.kind, 'event'),
    gt(event.time, new Date(at - alert.seconds * 1000)),
    lte(event.time, new Date(at)),
  ]
  const newest = (...more: typeof within) =>
    tx
      .select({ epoch: event.epoch, pts: event.pts, picture: event.picture })
      .from(event)
      .where(and(...within, ...more))
      .orderBy(desc(event.time), desc(event.seq))
      .limit(1)
  const [last] = await newest()
  if (!last) return { epoch: null, pts: null, picture: null }
  const [pictured] = last.picture ? [last] : await newest(isNotNull(event.picture))
  return { ...last, picture: pictured?.picture ?? null }
}
