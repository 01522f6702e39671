import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { and, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { withFullScope } from '../db/full-scope.ts'
import { channel, pushSubscription, user } from '../db/schema/index.ts'
import { textArray } from '../db/sql-values.ts'
import { readRedactedSettings } from '../settings/stored-settings.ts'
import { mayViewChannel } from '../users/channel-viewers.ts'
import { findActionType } from './action-type.ts'
import { smsKind, smtpKind } from './delivery-settings.ts'

/** A message as one delivery sends it, to one receiver. */
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
 * Creates the copies of a message. Each copy is a delivery of its own. An e-mail, an SMS or a push
 * message has a copy for each receiver: if one of the deliveries is repeated, the other receivers
 * get nothing twice. All other messages have one copy. Messages without a channel are about the
 * appliance, and are not sent to browsers.
 */
export async function createCopies(
  tx: Transaction,
  channelId: string | null,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const copies = await createSeparateCopies(tx, channelId, request)
  // A message without a receiver has a copy too: the attempt to send it fails, and reports that.
  return copies.length > 0 ? copies : [{ request }]
}

/**
 * Creates a copy for each receiver of an e-mail, an SMS or a push message; none for other messages.
 */
async function createSeparateCopies(
  tx: Transaction,
  channelId: string | null,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const { action } = request
  const type = findActionType(action)
  if (type === 'push') return channelId === null ? [] : createPushCopies(tx, channelId, request)

  if (type !== 'sms' && type !== 'email') return []
  const receivers = action.action_to || (await readDefaultReceivers(tx, type))
  return splitAddresses(receivers).map(address => ({ request: addressTo(request, address) }))
}

const addressTo = (request: DeliveryRequest, receiver: string): DeliveryRequest => ({
  ...request,
  action: { ...request.action, action_to: receiver },
})

/** An address. The name of a receiver may contain commas within quotes. */
const ADDRESS = /(?:"[^"]*"|[^,])+/g

/** Splits `a@example.com, "Doe, B" <b@example.com>`. Each address is listed once. */
const splitAddresses = (text: string): string[] => {
  const addresses = text.match(ADDRESS) ?? []
  return [...new Set(addresses.map(address => address.trim()).filter(Boolean))]
}

/**
 * Returns the receivers of actions that name none. The settings are read with full rights, because
 * managers may not see them.
 */
const readDefaultReceivers = (tx: Transaction, type: 'sms' | 'email'): Promise<string> =>
  withFullScope(tx, async () => {
    if (type === 'sms') return (await readRedactedSettings(tx, smsKind)).sms_to
    return (await readRedactedSettings(tx, smtpKind)).smtp_to
  })

/**
 * Creates a copy for each browser of the users who may view the channel; if the action names users,
 * only for their browsers.
 */
async function createPushCopies(
  tx: Transaction,
  channelId: string,
  request: DeliveryRequest,
): Promise<MessageCopy[]> {
  const emails = splitAddresses((request.action.action_to ?? '').toLowerCase())
  const whereNamed =
    emails.length > 0 ? sql`lower(${user.email}) = any (${textArray(emails)})` : undefined
  const browsers = await withFullScope(tx, () =>
    tx
      .select({ browser: pushSubscription, email: user.email })
      .from(pushSubscription)
      .innerJoin(user, eq(user.user_id, pushSubscription.user_id))
      .innerJoin(channel, eq(channel.channel_id, channelId))
      .where(and(mayViewChannel, whereNamed))
      .orderBy(pushSubscription.push_subscription_id),
  )
  return browsers.map(({ browser: { push_subscription_id, endpoint }, email }) => ({
    browser: { push_subscription_id, host: new URL(endpoint).host },
    request: addressTo(request, email),
  }))
}
