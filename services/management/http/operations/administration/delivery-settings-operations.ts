import { deliverySettingsRoutes, mqttRoutes } from '@eyrie/contract/management/index'
import type { Transaction } from '../../../db/database.ts'
import { mqttKind, smsKind, smtpKind } from '../../../deliveries/delivery-settings.ts'
import { announceInventory } from '../../../feed/publish-message.ts'
import type { Principal } from '../../../rights/principal.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import {
  readRedactedSettings,
  readStoredSettings,
  type SettingsKind,
  updateStoredSettings,
} from '../../../settings/stored-settings.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/**
 * API operations on the settings for the delivery of SMS, e-mails and MQTT messages. The settings
 * apply to all organizations, so only a superadmin may read the secrets.
 */
export function deliverySettingsOperations(secrets: Secrets): Operation[] {
  /**
   * Returns settings with their secrets if the caller asks for these and may read them,
   * otherwise with placeholders.
   */
  const readSettings = <Settings extends object>(
    tx: Transaction,
    kind: SettingsKind<Settings>,
    { input, caller }: { input: { is_secret: boolean }; caller: Principal },
  ): Promise<Settings> =>
    input.is_secret && caller.role === 'superadmin'
      ? readStoredSettings(tx, kind, secrets)
      : readRedactedSettings(tx, kind)

  return [
    defineOperation(deliverySettingsRoutes.getSms, async (call, tx) => ({
      value: await readSettings(tx, smsKind, call),
    })),

    defineOperation(deliverySettingsRoutes.getSmtp, async (call, tx) => ({
      value: await readSettings(tx, smtpKind, call),
    })),

    defineOperation(mqttRoutes.getMqtt, async (_, tx) => ({
      value: await readRedactedSettings(tx, mqttKind),
    })),

    defineOperation(deliverySettingsRoutes.updateSms, async ({ input }, tx) => {
      await updateStoredSettings(tx, smsKind, input, secrets)
    }),

    defineOperation(deliverySettingsRoutes.updateSmtp, async ({ input }, tx) => {
      await updateStoredSettings(tx, smtpKind, input, secrets)
    }),

    defineOperation(mqttRoutes.updateMqtt, async ({ input }, tx) => {
      await updateStoredSettings(tx, mqttKind, input, secrets)
      // The scheduler connects with the new settings.
      await announceInventory(tx)
    }),
  ]
}
