import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import { type Egress, EgressDeniedError, fetchFrom } from '@eyrie/kit'
import { isServerDown, readBeginning, readRetryAfter } from './http-outcome.ts'
import { createVapidAuthorization, encryptForBrowser } from './push-encryption.ts'
import { type Outcome, quote, type Sender } from './sender.ts'

const NO_RECEIVER =
  'no browser receives this message: a user with access to the channel must enable messages on the page Account of the console'
/**
 * The browser has unsubscribed, or the subscription has expired (RFC 8030, sections 7.3 and 8.1).
 */
const EXPIRED = [404, 410]
const TOO_LARGE = 413
/** Time for which a push service stores a message for a telephone that is switched off. */
const TTL_S = 86_400

// A push message has at most 4096 bytes. A character of the title or body takes up to six
// bytes, if it is escaped.
const MAX_TITLE_LENGTH = 80
const MAX_BODY_LENGTH = 300
const MAX_LINK_LENGTH = 1000

/**
 * Creates a sender that sends messages to browsers by their push services (RFC 8030). `publicUrl`
 * is the address of the console. It tells a push service whom to contact about the messages.
 */
export function createPushSender(egress: Egress, publicUrl: string | undefined): Sender {
  return async ({ delivery, settings, signal }) => {
    const { push } = delivery
    if (!push || !settings.vapid_key) return { state: 'dead', reason: NO_RECEIVER }

    const endpoint = new URL(push.endpoint)
    const request = {
      method: 'POST',
      headers: {
        authorization: createVapidAuthorization({
          endpoint,
          key: settings.vapid_key,
          publicUrl,
          now: new Date(),
        }),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(TTL_S),
        urgency: isUrgent(delivery) ? 'high' : 'normal',
        // A repeated message replaces the first one while the telephone is offline.
        topic: delivery.delivery_id.replaceAll('-', ''),
      },
      body: encryptForBrowser(push, JSON.stringify(createMessage(delivery))),
      signal,
    }

    try {
      const response = await fetchFrom(egress, endpoint, request)
      return toOutcome(response, await readBeginning(response))
    } catch (error) {
      if (error instanceof EgressDeniedError) return { state: 'dead', reason: error.message }
      throw error
    }
  }
}

const isUrgent = ({ request }: ClaimedDelivery) =>
  /^(high|critical)$/.test(request.details.alert_priority)

/**
 * Creates the message that the console's service worker shows. A click on it opens `link`, by
 * default the console.
 */
function createMessage({ delivery_id: deliveryId, request }: ClaimedDelivery) {
  const { subject, message, action } = request
  const link = action.action_external_link ?? ''
  return {
    id: deliveryId,
    title: shorten(subject, MAX_TITLE_LENGTH),
    body: shorten(message, MAX_BODY_LENGTH),
    link: /^https?:/i.test(link) && link.length <= MAX_LINK_LENGTH ? link : '/',
  }
}

const shorten = (text: string, maxLength: number) =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`

function toOutcome({ ok, status, headers }: Response, answer: string): Outcome {
  const reason = quote(`${status} ${answer}`)
  if (ok) return { state: 'sent', reason }
  if (EXPIRED.includes(status)) return { state: 'dead', reason, isReceiverGone: true }
  if (status === TOO_LARGE) return { state: 'dead', reason }
  return { state: 'failed', reason, isTargetDown: isServerDown(status), ...readRetryAfter(headers) }
}
