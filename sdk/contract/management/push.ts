import { z } from 'zod'
import { route } from './management-route.ts'
import { recordId, reference, text, timestamp } from './record-fields.ts'

/**
 * Push messages in the management API (Push API, RFC 8030). A user can subscribe a browser to them.
 * The browser then shows alerts even while the console is closed.
 */

const BASE64URL_CHARACTERS = /^[\w-]+$/

/**
 * Lengths of the keys of a subscription in bytes: an uncompressed point of the curve P-256, and
 * a secret (RFC 8291).
 */
const PUBLIC_KEY_BYTES = 65
const SECRET_BYTES = 16

/** Text that encodes this number of bytes in base64url without padding. */
const base64url = (length: number) =>
  text.refine(
    value => BASE64URL_CHARACTERS.test(value) && Math.floor((value.length * 3) / 4) === length,
    {
      error: `must be ${length} bytes in base64url`,
    },
  )

/** A subscription, with those fields of the browser's object that the appliance needs. */
const subscriptionInput = z.strictObject({
  // Short enough for a Postgres index.
  endpoint: text
    .max(1024)
    .refine(value => /^https:\/\/[!-~]+$/.test(value) && URL.canParse(value), {
      error: 'must be an address with https',
    })
    .meta({ description: 'Address at which the push service of the browser accepts messages' }),
  p256dh: base64url(PUBLIC_KEY_BYTES).meta({
    description: 'Public key of the browser, in base64url',
  }),
  auth: base64url(SECRET_BYTES).meta({ description: 'Secret of the browser, in base64url' }),
  label: text
    .max(100)
    .optional()
    .meta({ description: 'Name by which the user recognizes the browser' }),
})

export const pushSubscription = z
  .object({
    push_subscription_id: recordId,
    push_service: z.string().meta({ description: 'Host of the push service' }),
    label: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'PushSubscription' })
export type PushSubscription = z.infer<typeof pushSubscription>

export const pushRoutes = {
  pushKey: route({
    method: 'get',
    path: '/user/push/key',
    summary: 'Get the key with which a browser subscribes to push messages',
    access: 'signed-in',
    status: 200,
    response: z.object({
      public_key: z.string().meta({ description: 'Value of applicationServerKey, in base64url' }),
    }),
  }),

  pushList: route({
    method: 'get',
    path: '/user/push/list',
    summary: 'List your browsers that receive push messages',
    access: 'signed-in',
    status: 200,
    response: z.array(pushSubscription),
  }),

  pushSubscribe: route({
    method: 'post',
    path: '/user/push/subscribe',
    summary: 'Send push messages to a browser',
    description: 'If another user has subscribed the browser, the subscription becomes yours.',
    access: 'signed-in',
    requiresSession: true,
    body: subscriptionInput,
    status: 200,
    response: pushSubscription,
  }),

  pushUnsubscribe: route({
    method: 'post',
    path: '/user/push/unsubscribe',
    summary: 'Stop push messages to a browser',
    access: 'signed-in',
    body: z.strictObject({ push_subscription_id: reference('push_subscription') }),
    status: 200,
    response: null,
  }),
}
