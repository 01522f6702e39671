import { managementRoutes } from '@eyrie/contract/management/index'
import { desc, eq } from 'drizzle-orm'
import { withFullScope } from '../../../db/full-scope.ts'
import { pushSubscription } from '../../../db/schema/index.ts'
import {
  deleteSubscription,
  isPublicKey,
  readVapidKey,
  toPublicKey,
} from '../../../deliveries/push-subscriptions.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'

const routes = managementRoutes.user

/** Browsers of one user. The oldest ones are removed beyond it: nothing else limits what a user stores. */
const MAX_BROWSERS = 20

/** API operations on the browsers of the caller that receive push messages. */
export const pushOperations = (secrets: Secrets): Operation[] => [
  defineMultiStepOperation(routes.pushKey, async (_, database) => ({
    // The first call creates the key, which the caller may not do.
    value: {
      public_key: toPublicKey(await database.system(routes.pushKey.path, tx => readVapidKey(tx, secrets))),
    },
  })),

  defineOperation(routes.pushList, async ({ caller }, tx) => {
    const rows = await tx
      .select()
      .from(pushSubscription)
      .where(eq(pushSubscription.user_id, caller.user_id))
      .orderBy(pushSubscription.push_subscription_id)
    return { value: rows.map(toSubscription) }
  }),

  defineOperation(routes.pushSubscribe, async ({ input, caller: { user_id } }, tx) => {
    const { endpoint, p256dh, auth, label = '' } = input
    if (!isPublicKey(p256dh)) throw fieldError('p256dh', 'is not a public key of the curve P-256')
    // Another user may have used the same browser.
    await withFullScope(tx, () => tx.delete(pushSubscription).where(eq(pushSubscription.endpoint, endpoint)))
    const [row] = await tx
      .insert(pushSubscription)
      .values({ user_id, endpoint, p256dh, auth, label })
      .returning()
    const older = await tx
      .select({ push_subscription_id: pushSubscription.push_subscription_id })
      .from(pushSubscription)
      .where(eq(pushSubscription.user_id, user_id))
      .orderBy(desc(pushSubscription.push_subscription_id))
      .offset(MAX_BROWSERS)
    for (const { push_subscription_id } of older) await deleteSubscription(tx, push_subscription_id)
    return { value: toSubscription(row!) }
  }),

  defineOperation(routes.pushUnsubscribe, async ({ input: { push_subscription_id } }, tx) => {
    await deleteSubscription(tx, push_subscription_id)
    return undefined
  }),
]

/** Without the address of the browser, with which others could send to it. */
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
