import { managementRoutes } from '@eyrie/contract/management/index'
import {
  readDeliverySettings,
  readRedactedSettings,
  smsKind,
  smtpKind,
  updateDeliverySettings,
} from '../../../alerts/delivery-settings.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { type Operation, operation } from '../../api/operation.ts'

const routes = managementRoutes.config

/** An admin of an organization sees how messages are sent; the secrets, which are everybody's, the superadmin alone. */
export const configOperations = (secrets: Secrets): Operation[] => [
  operation(routes.sms, async ({ input: { is_secret }, caller }, tx) => ({
    value: await (is_secret && caller.role === 'superadmin'
      ? readDeliverySettings(tx, smsKind, secrets)
      : readRedactedSettings(tx, smsKind)),
  })),

  operation(routes.smtp, async ({ input: { is_secret }, caller }, tx) => ({
    value: await (is_secret && caller.role === 'superadmin'
      ? readDeliverySettings(tx, smtpKind, secrets)
      : readRedactedSettings(tx, smtpKind)),
  })),

  operation(routes.updateSms, async ({ input }, tx) => {
    await updateDeliverySettings(tx, smsKind, input, secrets)
    return undefined
  }),

  operation(routes.updateSmtp, async ({ input }, tx) => {
    await updateDeliverySettings(tx, smtpKind, input, secrets)
    return undefined
  }),
]
