import { createHash } from 'node:crypto'
import type { ActionType, AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryKind, DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { PgInsertValue } from 'drizzle-orm/pg-core'
import type { Transaction } from '../db/database.ts'
import { splitRows } from '../db/rows.ts'
import { delivery, notification } from '../db/schema/index.ts'
import { findActionType } from './action-type.ts'
import { createCopies, type MessageCopy } from './receivers.ts'

/** The channel of Postgres on which new due deliveries are announced. */
export const DELIVERY_CHANNEL = 'eyrie_delivery'

/** How long the delivery of a message is attempted. */
const LIFETIME = sql`interval '1 day'`
/** How long a delivery with a picture waits until the picture has arrived from its engine. */
const PICTURE_WAIT_S = 3

/**
 * A message that is to be stored in the outbox. The optional ids are those of the
 * records that it is about.
 */
export interface NewDelivery {
  kind: DeliveryKind
  request: DeliveryRequest
  /** Null if the alert was deleted. */
  alert_id?: string | null
  channel_id?: string | null
  notification_uuid?: string
  incident_id?: string
  /** The first system alert that the message is about. */
  system_alert_id?: string
  report_schedule_id?: string
  /** The file of the report. */
  report_id?: string
  /** Whether a picture that the message contains is being fetched. */
  awaitsPicture?: boolean
  /** Why the message is sent to no one. Undefined if it is sent. */
  suppression?: Suppression | undefined
  /**
   * Counts the message to one of its receivers. Returns why it is not sent to this receiver;
   * undefined if it is sent. Without this function, it is sent to all of them.
   */
  claimBudget?(receiver: CopyReceiver): Promise<Suppression | undefined>
}

/** Why a message is stored, but not sent. */
export interface Suppression {
  reason: string
  /** When a digest mentions the message. Undefined if none does. */
  digestAt?: Date
}

/** Where the messages of an action go. */
export interface Receiver {
  /** The server that receives the messages, as a key without secrets. */
  target: string
  /** The receiver as people may see it. */
  recipient: string
}

/** The receiver of one copy of a message. */
export interface CopyReceiver extends Receiver {
  type: ActionType
  /** The browser that receives a push message. */
  push_subscription_id: string | undefined
}

/**
 * Stores deliveries in the transaction of their cause, and wakes the scheduler when it commits.
 * Returns the ids of the stored rows. A message that is sent to each receiver separately has one
 * row for each of them.
 */
export async function storeDeliveries(
  tx: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  if (deliveries.length === 0) return []
  const rows: DeliveryInsert[] = []
  for (const newDelivery of deliveries) rows.push(...(await createRows(tx, newDelivery)))
  const ids: string[] = []
  for (const part of splitRows(rows)) {
    const stored = await tx
      .insert(delivery)
      .values(part)
      .returning({ delivery_id: delivery.delivery_id })
    ids.push(...stored.map(({ delivery_id }) => delivery_id))
  }
  if (deliveries.some(({ suppression }) => !suppression)) await announceDeliveries(tx)
  return ids
}

type DeliveryInsert = PgInsertValue<typeof delivery>

/**
 * Returns a row for each copy of a message. A message that is suppressed, or suppressed for one of
 * its receivers, has one row for that.
 */
async function createRows(tx: Transaction, newDelivery: NewDelivery): Promise<DeliveryInsert[]> {
  const { request, suppression, claimBudget, awaitsPicture = false, ...references } = newDelivery
  if (suppression) return [createSuppressedRow(references, request, suppression)]

  const copies = await createCopies(tx, references.channel_id ?? null, request)
  const rows: DeliveryInsert[] = []
  // A user gets a push message in all browsers, or in none.
  const copiesByRecipient = Map.groupBy(copies, copy => toReceiver(copy).recipient)
  for (const receiverCopies of copiesByRecipient.values()) {
    const firstCopy = receiverCopies[0]!
    const exceeded = await claimBudget?.(toReceiver(firstCopy))
    if (exceeded) rows.push(createSuppressedRow(references, firstCopy.request, exceeded))
    else rows.push(...receiverCopies.map(copy => createQueuedRow(references, copy, awaitsPicture)))
  }
  return rows
}

const toReceiver = ({ request, browser }: MessageCopy): CopyReceiver => ({
  ...findReceiver(request.action, browser?.host),
  push_subscription_id: browser?.push_subscription_id,
})

/** The kind of a delivery and the records that it refers to. */
type References = Omit<NewDelivery, 'request' | 'suppression' | 'claimBudget' | 'awaitsPicture'>

const createSuppressedRow = (
  references: References,
  request: DeliveryRequest,
  { reason, digestAt }: Suppression,
) => ({
  ...references,
  ...findReceiver(request.action),
  request,
  state: 'suppressed',
  reason,
  digest_at: digestAt,
  expires_at: sql`now()`,
  finished_at: sql`now()`,
})

function createQueuedRow(references: References, copy: MessageCopy, hasPicture: boolean) {
  const { request } = copy
  const delayS = request.action.action_process_delay ?? 0
  // A delayed message leaves enough time for its picture.
  const awaitsPicture = hasPicture && delayS === 0
  const waitS = awaitsPicture ? PICTURE_WAIT_S : delayS
  const dueAt = sql`now() + ${waitS} * interval '1 second'`
  return {
    ...references,
    ...toReceiver(copy),
    request: { thread_key: createThreadKey(references), ...request },
    awaits_picture: awaitsPicture,
    next_attempt_at: dueAt,
    expires_at: sql`${dueAt} + ${LIFETIME}`,
  }
}

/**
 * Messages with the same key are shown as one thread: those about an incident, or else those about
 * an alert on one day.
 */
const createThreadKey = ({ alert_id, incident_id, system_alert_id }: References) =>
  incident_id ?? system_alert_id ?? `${alert_id}/${new Date().toISOString().slice(0, 10)}`

/**
 * Returns the type of an action and the receiver of its messages. `pushService` is the host that
 * sends push messages.
 */
export function findReceiver(
  action: AlertAction,
  pushService = '',
): Receiver & { type: ActionType } {
  const { action_url: actionUrl = '', action_to: actionTo = '' } = action
  const type = findActionType(action)
  // All e-mails go to one server, that in the settings, and so do all SMS.
  if (type === 'email' || type === 'sms') return { type, target: type, recipient: actionTo }
  if (type === 'push') return { type, target: `push:${pushService}`, recipient: actionTo }

  // The path may contain secrets, so the target contains its hash only.
  const [urlWithoutQuery = ''] = actionUrl.split(/[?#]/)
  const hash = createHash('sha256').update(urlWithoutQuery).digest('hex')
  const absoluteUrl = actionUrl.includes('://') ? actionUrl : `https://${actionUrl}`
  return { type, target: `${type}:${hash}`, recipient: URL.parse(absoluteUrl)?.host ?? '' }
}

/**
 * Ends the wait of deliveries for a picture, which has arrived or will never arrive:
 * they become due now.
 */
export const releaseDeliveries = (tx: Transaction, sha256: string): Promise<void> =>
  releaseWhere(tx, eq(notification.picture, sha256))

/**
 * Ends the wait of the deliveries of a notification for a snapshot, which will never arrive:
 * they become due now.
 */
export const releaseWithoutPicture = (tx: Transaction, notificationUuid: string): Promise<void> =>
  releaseWhere(
    tx,
    and(eq(notification.notification_uuid, notificationUuid), isNull(notification.picture)),
  )

async function releaseWhere(tx: Transaction, condition: SQL | undefined): Promise<void> {
  const released = await tx
    .update(delivery)
    .set({ awaits_picture: false, next_attempt_at: sql`now()` })
    .from(notification)
    .where(
      and(
        eq(delivery.notification_uuid, notification.notification_uuid),
        condition,
        eq(delivery.awaits_picture, true),
        eq(delivery.attempts, 0),
      ),
    )
    .returning({ delivery_id: delivery.delivery_id })
  if (released.length > 0) await announceDeliveries(tx)
}

/**
 * Makes a dead delivery due again, with a new lifetime. Returns the row, or undefined if the
 * delivery is not dead.
 */
export async function reviveDelivery(
  tx: Transaction,
  deliveryId: string,
): Promise<typeof delivery.$inferSelect | undefined> {
  const [row] = await tx
    .update(delivery)
    .set({
      state: 'queued',
      next_attempt_at: sql`now()`,
      expires_at: sql`now() + ${LIFETIME}`,
      finished_at: null,
    })
    .where(and(eq(delivery.delivery_id, deliveryId), eq(delivery.state, 'dead')))
    .returning()
  if (row) await announceDeliveries(tx)
  return row
}

const announceDeliveries = (tx: Transaction) =>
  tx.execute(sql`select pg_notify(${DELIVERY_CHANNEL}, '')`)
