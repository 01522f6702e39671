import { createHash } from 'node:crypto'
import type { ActionType, AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { delivery, notification } from '../db/schema/index.ts'

/** The channel of Postgres on which new due deliveries are announced. */
export const DELIVERY_CHANNEL = 'eyrie_delivery'

/** How long a delivery is tried. */
const LIFETIME = sql`interval '1 day'`
/** How long a delivery with a picture waits until the picture has arrived from its engine. */
const PICTURE_WAIT_S = 3

export interface NewDelivery {
  alert_id: string
  channel_id: string
  /** Undefined for a test. */
  notification_uuid?: string
  request: DeliveryRequest
  /** Whether a picture that the message contains is being fetched. */
  awaitsPicture?: boolean
}

/** Stores deliveries in the transaction of their cause, and wakes the scheduler when it commits. Returns their ids. */
export async function storeDeliveries(
  tx: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  if (deliveries.length === 0) return []
  const rows = await tx
    .insert(delivery)
    .values(deliveries.map(toRow))
    .returning({ delivery_id: delivery.delivery_id })
  await announceDeliveries(tx)
  return rows.map(({ delivery_id }) => delivery_id)
}

function toRow({ request, awaitsPicture = false, ...references }: NewDelivery) {
  const { action } = request
  const type = findActionType(action)
  const delayS = action.action_process_delay ?? 0
  const awaits_picture = awaitsPicture && delayS === 0
  const waitS = awaits_picture ? PICTURE_WAIT_S : delayS
  const dueAt = sql`now() + ${waitS} * interval '1 second'`
  return {
    ...references,
    ...findDestination(type, action),
    type,
    request,
    awaits_picture,
    next_attempt_at: dueAt,
    expires_at: sql`${dueAt} + ${LIFETIME}`,
  }
}

/** Returns the type of an action; by default, it follows from the scheme of the URL. */
export function findActionType({ action_type, action_url = '' }: AlertAction): ActionType {
  if (action_type) return action_type
  if (/^https?:/i.test(action_url)) return 'webhook'
  if (/^(mqtts?|wss?):/i.test(action_url)) return 'mqtt'
  return 'email'
}

/** Returns the server that receives messages, as a key without secrets, and the receiver as people may see it. */
function findDestination(type: ActionType, { action_url = '', action_to = '' }: AlertAction) {
  // All e-mails go to one server, and so do all SMS: the settings name it.
  if (type === 'email' || type === 'sms') return { target: type, recipient: action_to }
  const [path = ''] = action_url.split(/[?#]/)
  const digest = createHash('sha256').update(path).digest('hex')
  const address = action_url.includes('://') ? action_url : `https://${action_url}`
  return { target: `${type}:${digest}`, recipient: URL.parse(address)?.host ?? '' }
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
