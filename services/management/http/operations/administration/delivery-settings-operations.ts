import { managementRoutes } from '@eyrie/contract/management/index'
import { changeSettings, readSettings, showSettings, sms, smtp } from '../../../alerts/delivery-settings.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

const routes = managementRoutes.config

/** SMS and e-mail settings. They apply to all organizations, so only a superadmin can read their secrets. */
export const deliverySettingsOperations = (secrets: Secrets): Operation[] => [
  defineOperation(routes.sms, async ({ input: { is_secret }, caller }, tx) => ({
    value: await (is_secret && caller.role === 'superadmin'
      ? readSettings(tx, sms, secrets)
      : showSettings(tx, sms)),
  })),

  defineOperation(routes.smtp, async ({ input: { is_secret }, caller }, tx) => ({
    value: await (is_secret && caller.role === 'superadmin'
      ? readSettings(tx, smtp, secrets)
      : showSettings(tx, smtp)),
  })),

  defineOperation(routes.updateSms, async ({ input }, tx) => {
    await changeSettings(tx, sms, input, secrets)
    return undefined
  }),

  defineOperation(routes.updateSmtp, async ({ input }, tx) => {
    await changeSettings(tx, smtp, input, secrets)
    return undefined
  }),
]
