import { pushRoutes } from '@eyrie/contract/management/index'
import { desc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { withFullScope } from '../../../db/full-scope.ts'
import { firstRow } from '../../../db/rows.ts'
import { pushSubscription } from '../../../db/schema/index.ts'
import {
  deleteSubscription,
  isPublicKey,
  readOrCreateVapidKey,
  toPublicKey,
} from '../../../deliveries/push-subscriptions.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'

/** Maximum number of subscriptions of a user. Without a limit, a user could fill the database. */
const MAX_SUBSCRIPTIONS = 20

/**
 * API operations on push subscriptions of the caller. A subscription is a browser that receives
 * push messages.
 */
export const pushOperations = (secrets: Secrets): Operation[] => [
  defineMultiStepOperation(pushRoutes.pushKey, async (_, database) => {
    // The first call creates the key. This requires more rights than the caller has.
    const key = await database.system(pushRoutes.pushKey.path, tx =>
      readOrCreateVapidKey(tx, secrets),
    )
    return { value: { public_key: toPublicKey(key) } }
  }),

  defineOperation(pushRoutes.pushList, async ({ caller }, tx) => {
    const rows = await tx
      .select()
      .from(pushSubscription)
      .where(eq(pushSubscription.user_id, caller.user_id))
      .orderBy(pushSubscription.push_subscription_id)
    return { value: rows.map(toSubscription) }
  }),

  defineOperation(pushRoutes.pushSubscribe, async ({ input, caller: { user_id: userId } }, tx) => {
    const { endpoint, p256dh, auth, label = '' } = input
    if (!isPublicKey(p256dh)) throw fieldError('p256dh', 'is not a public key of the curve P-256')
    // The browser may still have the subscription of another user, which the caller cannot see.
    await withFullScope(tx, () =>
      tx.delete(pushSubscription).where(eq(pushSubscription.endpoint, endpoint)),
    )
    const created = firstRow(
      await tx
        .insert(pushSubscription)
        .values({ user_id: userId, endpoint, p256dh, auth, label })
        .returning(),
    )
    await deleteExcessSubscriptions(tx, userId)
    return { value: toSubscription(created) }
  }),

  defineOperation(pushRoutes.pushUnsubscribe, async ({ input }, tx) => {
    await deleteSubscription(tx, input.push_subscription_id)
  }),
]

/** Deletes the oldest subscriptions of a user who has more than the maximum. */
async function deleteExcessSubscriptions(tx: Transaction, userId: string): Promise<void> {
  // The ids are in the order of creation.
  const excess = await tx
    .select({ push_subscription_id: pushSubscription.push_subscription_id })
    .from(pushSubscription)
    .where(eq(pushSubscription.user_id, userId))
    .orderBy(desc(pushSubscription.push_subscription_id))
    .offset(MAX_SUBSCRIPTIONS)
  for (const { push_subscription_id: pushSubscriptionId } of excess) {
    await deleteSubscription(tx, pushSubscriptionId)
  }
}

/** Omits the endpoint and the keys, with which anyone could send messages to the browser. */
const toSubscription = ({
  push_subscription_id,
  endpoint,
  label,
  created_at,
}: typeof pushSubscription.$inferSelect) => ({
  push_subscription_id,
  push_service: new URL(endpoint).host,
  label,
  created_at,
})
