import { createHash } from 'node:crypto'
import type { ActionType, AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryKind, DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { delivery, notification } from '../db/schema/index.ts'
import { splitRows } from '../db/split-rows.ts'
import { findActionType } from './action-type.ts'
import { listReceivers, type MessageCopy } from './receivers.ts'

/** The channel of Postgres on which new due deliveries are announced. */
export const DELIVERY_CHANNEL = 'eyrie_delivery'

/** How long a delivery is tried. */
const LIFETIME = sql`interval '1 day'`
/** How long a delivery with a picture waits until the picture has arrived from its engine. */
const PICTURE_WAIT_S = 3

export interface NewDelivery {
  kind: DeliveryKind
  /** Null if the alert was deleted. Undefined for a system alert. */
  alert_id?: string | null
  /** Undefined for a system alert and for a report. */
  channel_id?: string | null
  /** Undefined for a digest, for a test and for a system alert. */
  notification_uuid?: string
  incident_id?: string
  /** The first system alert that the message is about. */
  system_alert_id?: string
  request: DeliveryRequest
  /** The scheduled report, and its file. */
  report_schedule_id?: string
  report_id?: string
  /** Whether a picture that the message contains is being fetched. */
  awaitsPicture?: boolean
  /** Undefined if the message is sent. */
  suppression?: Suppression | undefined
}

/** Why a message is stored, but not sent. */
export interface Suppression {
  reason: string
  /** When a digest mentions it. Undefined if none will. */
  digestAt?: Date
}

/** Where the messages of an action go. */
export interface Receiver {
  /** The server that receives the messages, as a key without secrets. */
  target: string
  /** The receiver as people may see it. */
  recipient: string
}

/**
 * Stores deliveries in the transaction of their cause, and wakes the scheduler when it commits. Returns their ids: one for each
 * message, or for each receiver of a message that is sent to each one separately.
 */
export async function storeDeliveries(
  tx: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  if (deliveries.length === 0) return []
  const values: ReturnType<typeof toRow>[] = []
  for (const each of deliveries) for (const copy of await listCopies(tx, each)) values.push(toRow(each, copy))
  const ids: string[] = []
  for (const rows of splitRows(values)) {
    const stored = await tx.insert(delivery).values(rows).returning({ delivery_id: delivery.delivery_id })
    ids.push(...stored.map(({ delivery_id }) => delivery_id))
  }
  if (deliveries.some(({ suppression }) => !suppression)) await announceDeliveries(tx)
  return ids
}

/** A message that is not sent has one row. */
const listCopies = async (tx: Transaction, { channel_id = null, request, suppression }: NewDelivery) =>
  suppression ? [{ request }] : listReceivers(tx, channel_id, request)

function toRow(
  { request: _, awaitsPicture = false, suppression, ...references }: NewDelivery,
  { request, browser }: MessageCopy,
) {
  const { action } = request
  const receiver = findReceiver(action, browser?.host)
  if (suppression)
    return {
      ...references,
      ...receiver,
      request,
      state: 'suppressed',
      reason: suppression.reason,
      digest_at: suppression.digestAt,
      expires_at: sql`now()`,
      finished_at: sql`now()`,
    }

  const delayS = action.action_process_delay ?? 0
  const awaits_picture = awaitsPicture && delayS === 0
  const waitS = awaits_picture ? PICTURE_WAIT_S : delayS
  const dueAt = sql`now() + ${waitS} * interval '1 second'`
  return {
    ...references,
    ...receiver,
    request: { thread_key: createThreadKey(references), ...request },
    push_subscription_id: browser?.push_subscription_id,
    awaits_picture,
    next_attempt_at: dueAt,
    expires_at: sql`${dueAt} + ${LIFETIME}`,
  }
}

/** The messages about an incident are one thread, and those of an alert on one day without an incident. */
const createThreadKey = ({ alert_id, incident_id, system_alert_id }: Partial<NewDelivery>) =>
  incident_id ?? system_alert_id ?? `${alert_id}/${new Date().toISOString().slice(0, 10)}`

/** Returns the type of an action and the receiver of its messages. */
export function findReceiver(action: AlertAction, pushService = ''): Receiver & { type: ActionType } {
  const { action_url = '', action_to = '' } = action
  const type = findActionType(action)
  // All e-mails go to one server, and so do all SMS: the settings name it.
  if (type === 'email' || type === 'sms') return { type, target: type, recipient: action_to }
  if (type === 'push') return { type, target: `push:${pushService}`, recipient: action_to }
  const [path = ''] = action_url.split(/[?#]/)
  const digest = createHash('sha256').update(path).digest('hex')
  const address = action_url.includes('://') ? action_url : `https://${action_url}`
  return { type, target: `${type}:${digest}`, recipient: URL.parse(address)?.host ?? '' }
}

/** Makes the deliveries due that wait for a picture, because it has arrived or never will. */
export const releaseDeliveries = (tx: Transaction, sha256: string): Promise<void> =>
  releaseWhere(tx, eq(notification.picture, sha256))

/** Makes the deliveries of a notification due unless it has a picture, because no snapshot will arrive. */
export const releaseWithoutPicture = (tx: Transaction, notification_uuid: string): Promise<void> =>
  releaseWhere(tx, and(eq(notification.notification_uuid, notification_uuid), isNull(notification.picture)))

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

/** Makes a dead delivery due again, with its whole lifetime. Returns the row, or undefined if it is not dead. */
export async function reviveDelivery(tx: Transaction, delivery_id: string) {
  const [row] = await tx
    .update(delivery)
    .set({
      state: 'queued',
      next_attempt_at: sql`now()`,
      expires_at: sql`now() + ${LIFETIME}`,
      finished_at: null,
    })
    .where(and(eq(delivery.delivery_id, delivery_id), eq(delivery.state, 'dead')))
    .returning()
  if (row) await announceDeliveries(tx)
  return row
}

const announceDeliveries = (tx: Transaction) => tx.execute(sql`select pg_notify(${DELIVERY_CHANNEL}, '')`)
