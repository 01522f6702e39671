import type { ActionType } from '@eyrie/contract/management/alert'
import { createEgress, type Environment } from '@eyrie/kit'
import { createEmailSender } from './email-sender.ts'
import type { Sender } from './sender.ts'
import { createWebhookSender } from './webhook-sender.ts'

/** The sender of each type of action. */
export type Senders = Record<ActionType, Sender>

/** Creates all senders. `publicUrl` is the address at which people reach the console. */
export function createSenders(environment: Environment, publicUrl: string | undefined): Senders {
  return {
    email: createEmailSender(createEgress('mail', environment), publicUrl),
    webhook: createWebhookSender(createEgress('webhook', environment), publicUrl),
    sms: rejectUnsupported,
    mqtt: rejectUnsupported,
  }
}

const rejectUnsupported: Sender = async ({ delivery }) => ({
  state: 'dead',
  reason: `sending by ${delivery.type} is not supported yet: use an action of the type email or webhook`,
})
