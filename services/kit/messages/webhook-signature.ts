import { createHmac } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

/** Whether a token is a secret that signs messages, and not one that is sent. */
export const isSigningSecret = (token: string): boolean => token.startsWith(SECRET_PREFIX)

/**
 * Returns the headers that identify and sign a message (Standard Webhooks, version 1). The receiver
 * recognizes repeated messages by `id`.
 */
export function createWebhookHeaders(
  id: string,
  body: string | undefined,
  secret: string | undefined,
  now: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'idempotency-key': id }
  if (secret === undefined) return headers
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key)
    .update(`${id}.${timestamp}.${body ?? ''}`)
    .digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}
