import { managementRoutes } from '@eyrie/contract/management/index'
import { changeSettings, readSettings, showSettings, sms, smtp } from '../../../alerts/delivery-settings.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

const routes = managementRoutes.config

/** An admin of an organization sees how messages are sent; the secrets, which are everybody's, the superadmin alone. */
export const configOperations = (secrets: Secrets): Operation[] => [
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
