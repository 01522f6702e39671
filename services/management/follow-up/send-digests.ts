import type { AlertAction } from '@eyrie/contract/management/alert'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert, delivery } from '../db/schema/index.ts'
import { findReceiver, type Receiver, storeDeliveries } from '../deliveries/outbox.ts'
import { createDigestRequest } from './digest-request.ts'

/** Maximum number of digests of one run. The others follow in the next run, seconds later. */
const MAX_RECEIVERS = 50

type DeliveryRow = typeof delivery.$inferSelect

/**
 * Stores a digest for each receiver whose budget was used up, as soon as the receiver may get
 * messages again. The digest lists the suppressed messages. They are marked in the same
 * transaction, so that no other digest lists them. `now` is in epoch ms.
 */
export async function sendDigests(tx: Transaction, now: number): Promise<void> {
  const due = await tx.execute<{ target: string; recipient: string }>(sql`
    select target, recipient from delivery where digest_at is not null
    group by target, recipient having min(digest_at) <= ${new Date(now).toISOString()}::timestamptz
    order by min(digest_at) limit ${MAX_RECEIVERS}`)
  for (const receiver of due) await sendDigest(tx, receiver)
}

/** Stores one digest of all messages to a receiver that wait for a digest. */
async function sendDigest(tx: Transaction, { target, recipient }: Receiver): Promise<void> {
  const rows = await tx
    .update(delivery)
    .set({ digest_at: null })
    .where(
      and(
        eq(delivery.target, target),
        eq(delivery.recipient, recipient),
        isNotNull(delivery.digest_at),
      ),
    )
    .returning()
  // Ids are in the order in which the messages were stored.
  const suppressed = rows.toSorted((a, b) => a.delivery_id.localeCompare(b.delivery_id))
  const latest = suppressed.at(-1)
  // A concurrent run may have sent the digest.
  if (!latest) return
  const { alert_id, channel_id } = latest
  const action = await findAction(tx, latest)
  const requests = suppressed.map(({ request }) => request)
  const request = createDigestRequest(action, requests)
  await storeDeliveries(tx, [{ kind: 'digest', alert_id, channel_id, request }])
}

/**
 * Returns the action of an alert with which a suppressed message would have been sent. If the alert
 * no longer has this action, returns the copy in the message, but without the payload: its
 * placeholders are replaced already.
 */
async function findAction(
  tx: Transaction,
  { alert_id: alertId, target, recipient, request }: DeliveryRow,
): Promise<AlertAction> {
  const [row] = alertId ? await tx.select().from(alert).where(eq(alert.alert_id, alertId)) : []
  const actions = (row?.alert_actions ?? []) as AlertAction[]
  const current = actions.find(action => {
    const receiver = findReceiver(action)
    return receiver.target === target && receiver.recipient === recipient
  })
  return current ?? { ...request.action, action_payload: undefined }
}
