import { z } from 'zod'
import { route } from './management-route.ts'
import { recordId, reference, text, timestamp } from './record-fields.ts'

/**
 * Push messages in the management API (Push API, RFC 8030). A user can subscribe a browser to push
 * messages. The browser then shows alerts even while the console is closed.
 *
 * Each browser has a push service, a server of its vendor. The appliance encrypts a message for the
 * browser (RFC 8291) and sends it to the push service, which delivers it.
 */

/** Length of the public key of a browser: an uncompressed point of the curve P-256. */
const PUBLIC_KEY_BYTES = 65
/** Length of the secret that a browser shares with the appliance. */
const SECRET_BYTES = 16

const BASE64URL_CHARACTERS = /^[\w-]+$/

/** Whether a text encodes this number of bytes in base64url without padding. */
function isBase64url(value: string, byteCount: number): boolean {
  // Four characters encode three bytes. The last bits of an incomplete group are unused.
  const encodedBytes = Math.floor((value.length * 3) / 4)
  return BASE64URL_CHARACTERS.test(value) && encodedBytes === byteCount
}

const base64url = (byteCount: number) =>
  text.refine(value => isBase64url(value, byteCount), {
    error: `must be ${byteCount} bytes in base64url`,
  })

/** Short enough for a Postgres index. */
const MAX_ENDPOINT_LENGTH = 1024
/** An address of printable ASCII characters without spaces, from `!` to `~`. */
const HTTPS_ADDRESS = /^https:\/\/[!-~]+$/

/** A subscription in a request: the fields of the browser's `PushSubscription`, and a label. */
const subscriptionInput = z.strictObject({
  endpoint: text
    .max(MAX_ENDPOINT_LENGTH)
    .refine(value => HTTPS_ADDRESS.test(value) && URL.canParse(value), {
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

/** A subscription in a response. It contains no keys. */
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
