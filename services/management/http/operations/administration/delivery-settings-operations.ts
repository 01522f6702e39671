import { managementRoutes } from '@eyrie/contract/management/index'
import {
  readDeliverySettings,
  readRedactedSettings,
  smsKind,
  smtpKind,
  updateDeliverySettings,
} from '../../../alerts/delivery-settings.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

const routes = managementRoutes.config

/** SMS and e-mail settings. They apply to all organizations, so only a superadmin can read their secrets. */
export const deliverySettingsOperations = (secrets: Secrets): Operation[] => [
  defineOperation(routes.sms, async ({ input: { is_secret }, caller }, tx) => ({
    value: await (is_secret && caller.role === 'superadmin'
      ? readDeliverySettings(tx, smsKind, secrets)
      : readRedactedSettings(tx, smsKind)),
  })),

  defineOperation(routes.smtp, async ({ input: { is_secret }, caller }, tx) => ({
    value: await (is_secret && caller.role === 'superadmin'
      ? readDeliverySettings(tx, smtpKind, secrets)
      : readRedactedSettings(tx, smtpKind)),
  })),

  defineOperation(routes.updateSms, async ({ input }, tx) => {
    await updateDeliverySettings(tx, smsKind, input, secrets)
    return undefined
  }),

  defineOperation(routes.updateSmtp, async ({ input }, tx) => {
    await updateDeliverySettings(tx, smtpKind, input, secrets)
    return undefined
  }),
]
