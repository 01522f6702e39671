import { createHash } from 'node:crypto'
import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'

/** Headers by which mail programs recognize repeated messages, show threads and unsubscribe. */
export function createEmailHeaders(
  { delivery_id, request, unsubscribe_token }: ClaimedDelivery,
  publicUrl: string | undefined,
) {
  const { thread_key } = request
  return {
    // The same for all attempts, so that a mailbox shows a repeated message once.
    messageId: `<${delivery_id}@eyrie>`,
    ...(thread_key !== undefined && createThreadHeaders(thread_key)),
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribe_token !== null && createUnsubscribeHeaders(unsubscribe_token, publicUrl)),
    },
  }
}

/**
 * Messages of one thread refer to the same message, which does not exist: mail programs group them
 * by it (RFC 5322, section 3.6.4), in any order of arrival.
 */
function createThreadHeaders(threadKey: string) {
  const digest = createHash('sha256').update(threadKey).digest('hex').slice(0, 32)
  const root = `<thread-${digest}@eyrie>`
  return { inReplyTo: root, references: root }
}

/**
 * Unsubscribing with one click needs TLS (RFC 8058, section 3.1). Without it, the link
 * opens a page that asks.
 */
function createUnsubscribeHeaders(
  token: string,
  publicUrl: string | undefined,
): Record<string, string> {
  const link = createUnsubscribeLink(token, publicUrl)
  if (link === undefined) return {}
  return {
    'List-Unsubscribe': `<${link}>`,
    ...(link.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  }
}

/**
 * Returns the address at which a receiver unsubscribes from digests. Undefined if people cannot
 * reach the appliance.
 */
export const createUnsubscribeLink = (
  token: string,
  publicUrl: string | undefined,
): string | undefined =>
  publicUrl && `${publicUrl.replace(/\/+$/, '')}/unsubscribe?${new URLSearchParams({ token })}`
