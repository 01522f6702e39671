import type { ActionType } from '@eyrie/contract/management/alert'
import { createEgress, type Environment } from '@eyrie/kit'
import { createEmailSender } from './email-sender.ts'
import type { Sender } from './sender.ts'

/** The sender of each type of action. */
export type Senders = Record<ActionType, Sender>

export interface SendersOptions {
  /** Address at which people reach the console. */
  publicUrl: string | undefined
  /** Maximum number of messages that an SMS is divided into. */
  maxSmsSegments: number
}

/**
 * Creates all senders. A sender loads its library with its first message, because an appliance uses
 * few of the libraries, and they need much memory.
 */
export function createSenders(environment: Environment, options: SendersOptions): Senders {
  const { publicUrl, maxSmsSegments } = options
  const webhookEgress = createEgress('webhook', environment)
  return {
    email: createEmailSender(createEgress('mail', environment), publicUrl),
    sms: loadLazily(async () => {
      const { createSmsSender } = await import('./sms-sender.ts')
      return createSmsSender(createEgress('sms', environment), maxSmsSegments)
    }),
    webhook: loadLazily(async () => {
      const { createWebhookSender } = await import('./webhook-sender.ts')
      return createWebhookSender(webhookEgress, publicUrl)
    }),
    mqtt: loadLazily(async () => {
      const { createMqttSender } = await import('./mqtt-sender.ts')
      return createMqttSender(webhookEgress, publicUrl)
    }),
    push: loadLazily(async () => {
      const { createPushSender } = await import('./push-sender.ts')
      return createPushSender(webhookEgress, publicUrl)
    }),
  }
}

/** Returns a sender that is loaded with its first message. */
function loadLazily(load: () => Promise<Sender>): Sender {
  let loaded: Promise<Sender> | undefined
  return async attempt => {
    loaded ??= load()
    return (await loaded)(attempt)
  }
}
