import { deliverySettingsRoutes, mqttRoutes } from '@eyrie/contract/management/index'
import {
  mqttKind,
  readDeliverySettings,
  readRedactedSettings,
  smsKind,
  smtpKind,
  updateDeliverySettings,
} from '../../../deliveries/delivery-settings.ts'
import { announceInventory } from '../../../feed/publish-message.ts'
import type { Principal } from '../../../rights/principal.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/**
 * API operations on the settings for the delivery of SMS, e-mails and MQTT messages. The settings apply to all organizations, so
 * only a superadmin may read the secrets.
 */
export const deliverySettingsOperations = (secrets: Secrets): Operation[] => [
  defineOperation(deliverySettingsRoutes.getSms, async ({ input, caller }, tx) => ({
    value: canReadSecrets(input, caller)
      ? await readDeliverySettings(tx, smsKind, secrets)
      : await readRedactedSettings(tx, smsKind),
  })),

  defineOperation(deliverySettingsRoutes.getSmtp, async ({ input, caller }, tx) => ({
    value: canReadSecrets(input, caller)
      ? await readDeliverySettings(tx, smtpKind, secrets)
      : await readRedactedSettings(tx, smtpKind),
  })),

  defineOperation(mqttRoutes.getMqtt, async (_call, tx) => ({
    value: await readRedactedSettings(tx, mqttKind),
  })),

  defineOperation(deliverySettingsRoutes.updateSms, async ({ input }, tx) => {
    await updateDeliverySettings(tx, smsKind, input, secrets)
    return undefined
  }),

  defineOperation(deliverySettingsRoutes.updateSmtp, async ({ input }, tx) => {
    await updateDeliverySettings(tx, smtpKind, input, secrets)
    return undefined
  }),

  defineOperation(mqttRoutes.updateMqtt, async ({ input }, tx) => {
    await updateDeliverySettings(tx, mqttKind, input, secrets)
    // The scheduler connects with the new settings.
    await announceInventory(tx)
    return undefined
  }),
]

/** Returns whether the response contains the secrets: the caller has asked for them and may read them. */
const canReadSecrets = ({ is_secret }: { is_secret: boolean }, { role }: Principal) =>
  is_secret && role === 'superadmin'
