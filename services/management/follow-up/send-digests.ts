import type { AlertAction } from '@eyrie/contract/management/alert'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert, delivery } from '../db/schema/index.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { findReceiver, type Receiver, storeDeliveries } from '../deliveries/outbox.ts'
import { createDigestRequest } from './digest-request.ts'

/** Maximum number of receivers in one run. The others follow in the next run, seconds later. */
const MAX_RECEIVERS = 50

type DeliveryRow = typeof delivery.$inferSelect

/**
 * Sends digests to the receivers that may get messages again at `now` (epoch ms). A receiver whose
 * budget of messages was used up gets one digest, which lists the messages that were suppressed.
 *
 * A suppressed message waits for a digest as long as it has a `digest_at`, the time from which the
 * digest may be sent.
 */
export async function sendDigests(tx: Transaction, now: number): Promise<void> {
  const due = await tx.execute<{ target: string; recipient: string }>(sql`
    select target, recipient
    from delivery
    where digest_at is not null
    group by target, recipient
    having min(digest_at) <= ${toTimestamp(now)}
    order by min(digest_at)
    limit ${MAX_RECEIVERS}`)
  for (const receiver of due) await sendDigest(tx, receiver)
}

/** Stores the delivery of one digest of all messages to a receiver that wait for a digest. */
async function sendDigest(tx: Transaction, { target, recipient }: Receiver): Promise<void> {
  // Messages that are in a digest no longer wait for one.
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
  // Ids are UUIDs of version 7, so they sort by the time at which the messages were stored.
  const suppressed = rows.toSorted((a, b) => a.delivery_id.localeCompare(b.delivery_id))
  const latest = suppressed.at(-1)
  // A concurrent run may have sent the digest.
  if (!latest) return

  const requests = suppressed.map(({ request }) => request)
  const request = createDigestRequest(await findAction(tx, latest), requests)
  const { alert_id, channel_id } = latest
  await storeDeliveries(tx, [{ kind: 'digest', alert_id, channel_id, request }])
}

/**
 * Returns how the digest is sent: like the latest message, by the same action of its alert. If the
 * alert no longer has this action, returns the copy in the message. The copy has no payload,
 * because the placeholders in it are already replaced with the data of that one message.
 */
async function findAction(
  tx: Transaction,
  { alert_id, target, recipient, request }: DeliveryRow,
): Promise<AlertAction> {
  const [row] = alert_id ? await tx.select().from(alert).where(eq(alert.alert_id, alert_id)) : []
  const actions = (row?.alert_actions ?? []) as AlertAction[]
  const current = actions.find(action => {
    const receiver = findReceiver(action)
    return receiver.target === target && receiver.recipient === recipient
  })
  return current ?? { ...request.action, action_payload: undefined }
}
