import type {
  ClaimedDelivery,
  ClaimRequest,
  DeliveryResult,
} from '@eyrie/contract/management/delivery-queue'
import { and, eq, isNotNull, lt, notInArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { BATCH_ROWS } from '../db/delete-in-batches.ts'
import {
  channel,
  delivery,
  notification,
  pushSubscription,
  unsubscribed,
  user,
} from '../db/schema/index.ts'
import { isAnyOf } from '../db/text-array.ts'
import { mayViewChannel } from '../users/channel-viewers.ts'
import { deleteSubscription } from './push-subscriptions.ts'

/** States in which a delivery is finished. */
const FINISHED: readonly DeliveryResult['state'][] = ['sent', 'delivered', 'dead']

/**
 * Claims due deliveries for a scheduler: counts an attempt, and makes them due again when the lease
 * ends. The claim limits the number of deliveries for each target, so that a slow target does not
 * delay the others. `createUnsubscribeToken` is called with the receiver of each digest.
 */
export async function claimDeliveries(
  tx: Transaction,
  claim: ClaimRequest,
  createUnsubscribeToken: (address: string) => string,
): Promise<ClaimedDelivery[]> {
  const ids = await lockDueDeliveries(tx, claim)
  if (ids.length === 0) return []
  await tx
    .update(delivery)
    .set({
      attempts: sql`${delivery.attempts} + 1`,
      awaits_picture: false,
      next_attempt_at: sql`now() + ${claim.lease_s} * interval '1 second'`,
    })
    .where(isAnyOf(delivery.delivery_id, ids))

  // The casts are safe, because constraints of the database admit only valid types and kinds.
  const rows = await readDeliveries(tx, ids)
  return rows.map(({ delivery: row, picture, push, mayView, unsubscribed }) => ({
    delivery_id: row.delivery_id,
    attempt: row.attempts,
    type: row.type as ClaimedDelivery['type'],
    kind: row.kind as ClaimedDelivery['kind'],
    target: row.target,
    is_test: row.kind === 'test',
    channel_id: row.channel_id,
    notification_uuid: row.notification_uuid,
    incident_id: row.incident_id,
    picture,
    request: row.request,
    push: mayView ? push : null,
    unsubscribe_token: isDigest(row) ? createUnsubscribeToken(row.recipient) : null,
    is_unsubscribed: isDigest(row) && unsubscribed !== null,
  }))
}

const isDigest = ({ type, request }: typeof delivery.$inferSelect) =>
  type === 'email' && request.digest === true

/** Reads deliveries with the other data that their messages need. */
const readDeliveries = (tx: Transaction, ids: readonly string[]) =>
  tx
    .select({
      delivery,
      picture: notification.picture,
      push: {
        endpoint: pushSubscription.endpoint,
        p256dh: pushSubscription.p256dh,
        auth: pushSubscription.auth,
      },
      // The rights of the user may have changed since the alert fired.
      mayView: sql<boolean>`coalesce(${mayViewChannel}, false)`,
      unsubscribed: unsubscribed.address,
    })
    .from(delivery)
    // Messages about the appliance have no channel.
    .leftJoin(channel, eq(channel.channel_id, delivery.channel_id))
    .leftJoin(notification, eq(notification.notification_uuid, delivery.notification_uuid))
    .leftJoin(
      pushSubscription,
      eq(pushSubscription.push_subscription_id, delivery.push_subscription_id),
    )
    .leftJoin(user, eq(user.user_id, pushSubscription.user_id))
    .leftJoin(unsubscribed, eq(unsubscribed.address, sql`lower(${delivery.recipient})`))
    .where(isAnyOf(delivery.delivery_id, ids))

/**
 * Locks the oldest due deliveries of each target, and returns their ids. The recursive query
 * `waiting_target` skips from target to target in the index, so that its duration does not depend
 * on the number of deliveries.
 */
async function lockDueDeliveries(
  tx: Transaction,
  { limit, target_limit: targetLimit, target_limits: targetLimits }: ClaimRequest,
): Promise<string[]> {
  const rows = await tx.execute<{ delivery_id: string }>(sql`
    with recursive waiting_target as (
      -- The first target with unfinished deliveries.
      (
        select target
        from delivery
        where next_attempt_at is not null
        order by target
        limit 1
      )
      union all
      -- The target after the previous one. After the last one it is null, which ends the recursion.
      select (
        select delivery.target
        from delivery
        where delivery.next_attempt_at is not null
          and delivery.target > previous.target
        order by delivery.target
        limit 1
      )
      from waiting_target previous
      where previous.target is not null
    ),
    specific_limit as (
      select key as target, value::int as max_deliveries
      from json_each_text(${JSON.stringify(targetLimits)}::text::json)
    )
    select due.delivery_id
    from waiting_target
    left join specific_limit on specific_limit.target = waiting_target.target
    cross join lateral (
      select delivery.delivery_id, delivery.next_attempt_at
      from delivery
      where delivery.target = waiting_target.target
        and delivery.next_attempt_at <= now()
        and delivery.expires_at > now()
      order by delivery.next_attempt_at
      limit coalesce(specific_limit.max_deliveries, ${targetLimit}::int)
      -- Another scheduler is claiming the deliveries that are locked.
      for update skip locked
    ) due
    where waiting_target.target is not null
    order by due.next_attempt_at
    limit ${limit}::int`)
  return rows.map(({ delivery_id }) => delivery_id)
}

/** Returns the milliseconds until another delivery becomes due; null if none waits. */
export async function findNextDueMs(tx: Transaction): Promise<number | null> {
  const [row] = await tx.execute<{ ms: number | null }>(sql`
    select (extract(epoch from min(next_attempt_at) - now()) * 1000)::float8 as ms
    from delivery
    where next_attempt_at > now()`)
  return row?.ms ?? null
}

/**
 * Stores the results of attempts, and deletes push subscriptions that no longer exist. Ignores a
 * result that was stored already, and one that arrives after the next attempt has begun.
 */
export async function storeResults(
  tx: Transaction,
  results: readonly DeliveryResult[],
): Promise<void> {
  const rows = results.map(({ delivery_id, attempt, state, reason, retry_ms = 0 }) => ({
    delivery_id,
    attempt,
    state,
    retry_ms,
    is_finished: FINISHED.includes(state),
    // Postgres cannot store NUL characters.
    reason: reason.replaceAll('\0', ''),
  }))
  // One statement stores all results: a round trip for each would limit the rate of deliveries.
  const updated = await tx.execute<{
    delivery_id: string
    push_subscription_id: string | null
  }>(sql`
    update delivery
    set
      state = result.state,
      reason = result.reason,
      next_attempt_at = case
        when result.is_finished then null
        else now() + result.retry_ms * interval '1 millisecond'
      end,
      finished_at = case when result.is_finished then now() end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as result (
      delivery_id uuid,
      attempt int,
      state text,
      reason text,
      retry_ms float8,
      is_finished boolean
    )
    where delivery.delivery_id = result.delivery_id
      and delivery.attempts = result.attempt
      and delivery.next_attempt_at is not null
    returning delivery.delivery_id, delivery.push_subscription_id`)

  const withoutReceiver = results.filter(result => result.is_receiver_gone)
  const withoutReceiverIds = new Set(withoutReceiver.map(({ delivery_id }) => delivery_id))
  for (const { delivery_id: deliveryId, push_subscription_id: subscriptionId } of updated) {
    const isReceiverGone = withoutReceiverIds.has(deliveryId)
    if (isReceiverGone && subscriptionId !== null) await deleteSubscription(tx, subscriptionId)
  }
}

/**
 * Marks deliveries as dead that were not sent within a day. Returns their number. After an outage
 * there may be very many, so they are marked in batches. Rejects if `signal` aborts.
 */
export async function expireDeliveries(database: Database, signal: AbortSignal): Promise<number> {
  for (let total = 0; ; ) {
    signal.throwIfAborted()
    const count = await database.system('deliveries', expireBatch)
    total += count
    if (count < BATCH_ROWS) return total
  }
}

async function expireBatch(tx: Transaction): Promise<number> {
  const expired = await tx
    .select({ delivery_id: delivery.delivery_id })
    .from(delivery)
    .where(
      and(
        isNotNull(delivery.next_attempt_at),
        // Excludes deliveries with a running attempt, which may still succeed.
        lt(delivery.next_attempt_at, sql`now()`),
        lt(delivery.expires_at, sql`now()`),
        notInArray(delivery.state, [...FINISHED]),
      ),
    )
    .limit(BATCH_ROWS)
    .for('update')
  const ids = expired.map(({ delivery_id }) => delivery_id)
  await tx
    .update(delivery)
    .set({
      state: 'dead',
      reason: sql`'gave up after a day' || case when reason = '' then '' else ': ' || reason end`,
      next_attempt_at: null,
      finished_at: sql`now()`,
    })
    .where(isAnyOf(delivery.delivery_id, ids))
  return ids.length
}
