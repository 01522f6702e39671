import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { and, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { withFullScope } from '../db/full-scope.ts'
import { channel, pushSubscription, user } from '../db/schema/index.ts'
import { mayViewChannel } from '../users/channel-viewers.ts'
import { findActionType } from './action-type.ts'
import { readRedactedSettings, smsKind, smtpKind } from './delivery-settings.ts'

/** A message as one receiver, or all of them together, get it. */
export interface MessageCopy {
  request: DeliveryRequest
  browser?: {
    push_subscription_id: string
    /** Host of the push service. */
    host: string
  }
}

/**
 * Returns the receivers of a message of which each gets a delivery of its own: an SMS, a digest and a push message are sent to
 * each receiver separately, so that a repeated attempt sends nothing twice to the others. All other messages have one delivery.
 * No browser receives messages without a channel, which are those about the appliance.
 */
export async function listReceivers(
  tx: Transaction,
  channel_id: string | null,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const type = findActionType(request.action)
  if (type === 'push') return channel_id === null ? [{ request }] : listBrowsers(tx, channel_id, request)
  if (type !== 'sms' && !(type === 'email' && request.digest)) return [{ request }]
  const addresses = splitAddresses(request.action.action_to || (await readDefault(tx, type)))
  // The attempt reports that there is no receiver.
  if (addresses.length === 0) return [{ request }]
  return addresses.map(action_to => ({ request: { ...request, action: { ...request.action, action_to } } }))
}

/** Splits `a@example.com, b@example.com`. Each address is listed once. */
export const splitAddresses = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map(address => address.trim())
      .filter(Boolean),
  ),
]

/** Reads the receivers of actions without their own. Managers may not see the other settings. */
async function readDefault(tx: Transaction, type: 'sms' | 'email'): Promise<string> {
  return withFullScope(tx, async () =>
    type === 'sms'
      ? (await readRedactedSettings(tx, smsKind)).sms_to
      : (await readRedactedSettings(tx, smtpKind)).smtp_to,
  )
}

/** Finds the browsers of the users who may view the channel, or of those among them whom the action names. */
async function listBrowsers(
  tx: Transaction,
  channel_id: string,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const named = splitAddresses(request.action.action_to ?? '').map(address => address.toLowerCase())
  const isNamed = named.length > 0 ? sql`lower(${user.email}) = any (${sql.param(named)}::text[])` : undefined
  const browsers = await withFullScope(tx, () =>
    tx
      .select({ browser: pushSubscription, email: user.email })
      .from(pushSubscription)
      .innerJoin(user, eq(user.user_id, pushSubscription.user_id))
      .innerJoin(channel, eq(channel.channel_id, channel_id))
      .where(and(mayViewChannel, isNamed))
      .orderBy(pushSubscription.push_subscription_id),
  )
  // The attempt reports that no browser receives the message.
  if (browsers.length === 0) return [{ request }]
  return browsers.map(({ browser: { push_subscription_id, endpoint }, email }) => ({
    browser: { push_subscription_id, host: new URL(endpoint).host },
    request: { ...request, action: { ...request.action, action_to: email } },
  }))
}
