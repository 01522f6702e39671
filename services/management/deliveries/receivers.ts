import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { and, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { withFullScope } from '../db/full-scope.ts'
import { channel, pushSubscription, user } from '../db/schema/index.ts'
import { mayViewChannel } from '../users/channel-viewers.ts'
import { findActionType } from './action-type.ts'
import { readRedactedSettings, smsKind, smtpKind } from './delivery-settings.ts'

/** A message as it is delivered: to one receiver, or to all receivers together. */
export interface MessageCopy {
  request: DeliveryRequest
  /** The receiver of a push message. */
  browser?: {
    push_subscription_id: string
    /** Host of the push service. */
    host: string
  }
}

/**
 * Returns the copies of a message, each of which gets a delivery of its own. SMS, digests and push messages have a copy for each
 * receiver: if one of them fails and is repeated, the other receivers get nothing twice. All other messages have one copy. A message
 * about the appliance, which has no channel, is not sent to browsers.
 */
export async function listReceivers(
  tx: Transaction,
  channelId: string | null,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const copies = await listSeparateCopies(tx, channelId, request)
  // If there is no receiver, the attempt to send the message fails and reports that.
  return copies.length > 0 ? copies : [{ request }]
}

/** Returns a copy for each receiver of an SMS, a digest or a push message; none for other messages. */
async function listSeparateCopies(
  tx: Transaction,
  channelId: string | null,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const type = findActionType(request.action)
  if (type === 'push') return channelId === null ? [] : listBrowsers(tx, channelId, request)
  const isDigest = type === 'email' && request.digest === true
  if (type !== 'sms' && !isDigest) return []
  const addresses = splitAddresses(request.action.action_to || (await readDefaultReceivers(tx, type)))
  return addresses.map(address => ({ request: replaceReceiver(request, address) }))
}

const replaceReceiver = (request: DeliveryRequest, actionTo: string): DeliveryRequest => ({
  ...request,
  action: { ...request.action, action_to: actionTo },
})

/** Splits `a@example.com, b@example.com`. Each address is listed once. */
export const splitAddresses = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map(address => address.trim())
      .filter(Boolean),
  ),
]

/** Returns the receivers of actions that name none. The settings are read with full rights, because managers may not see them. */
const readDefaultReceivers = (tx: Transaction, type: 'sms' | 'email'): Promise<string> =>
  withFullScope(tx, async () => {
    if (type === 'sms') return (await readRedactedSettings(tx, smsKind)).sms_to
    return (await readRedactedSettings(tx, smtpKind)).smtp_to
  })

/** Returns a copy for each browser of the users who may view the channel. If the action names users, only their browsers count. */
async function listBrowsers(
  tx: Transaction,
  channelId: string,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const names = splitAddresses(request.action.action_to ?? '').map(address => address.toLowerCase())
  const nameCondition =
    names.length > 0 ? sql`lower(${user.email}) = any (${sql.param(names)}::text[])` : undefined
  const browsers = await withFullScope(tx, () =>
    tx
      .select({ browser: pushSubscription, email: user.email })
      .from(pushSubscription)
      .innerJoin(user, eq(user.user_id, pushSubscription.user_id))
      .innerJoin(channel, eq(channel.channel_id, channelId))
      .where(and(mayViewChannel, nameCondition))
      .orderBy(pushSubscription.push_subscription_id),
  )
  return browsers.map(({ browser: { push_subscription_id, endpoint }, email }) => ({
    browser: { push_subscription_id, host: new URL(endpoint).host },
    request: replaceReceiver(request, email),
  }))
}
