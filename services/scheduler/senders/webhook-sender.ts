import { type Egress, EgressDeniedError, fetchFrom } from '@eyrie/kit'
import { InvalidActionError } from '@eyrie/kit/messages/invalid-action-error'
import { createWebhookRequest } from '@eyrie/kit/messages/webhook-request'
import { isServerDown, readBeginning, readRetryAfter } from './http-outcome.ts'
import { type Outcome, quote, type Sender } from './sender.ts'

/** The receiver has deleted the webhook. */
const GONE = 410

/** Calls webhooks. A receiver that answers with a status of success has the message. */
export function createWebhookSender(egress: Egress, publicUrl: string | undefined): Sender {
  return async ({ delivery, signal, readPicture }) => {
    try {
      const hasInlinePicture = delivery.request.action.action_picture === 'inline'
      const picture = hasInlinePicture ? await readPicture() : undefined
      const { url, ...request } = createWebhookRequest(delivery, {
        publicUrl,
        picture,
        now: new Date(),
      })
      const response = await fetchFrom(egress, url, { ...request, signal })
      return toOutcome(response, await readBeginning(response))
    } catch (error) {
      if (error instanceof InvalidActionError || error instanceof EgressDeniedError) {
        return { state: 'dead', reason: error.message }
      }
      throw error
    }
  }
}

function toOutcome({ ok, status, headers }: Response, answer: string): Outcome {
  const reason = quote(`${status} ${answer}`)
  if (ok) return { state: 'delivered', reason }
  if (status === GONE) return { state: 'dead', reason }
  // Other client errors are about this message, or about a configuration that
  // somebody may be correcting.
  return { state: 'failed', reason, isTargetDown: isServerDown(status), ...readRetryAfter(headers) }
}
