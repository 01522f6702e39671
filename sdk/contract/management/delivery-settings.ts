import { z } from 'zod'
import { flagParameter } from '../parameters.ts'
import { route } from './management-route.ts'
import { text } from './record-fields.ts'

/** Ends up in the head of a message, where a line break would begin another field. */
const line = text.regex(/^[^\r\n]*$/, { error: 'may not hold a line break' })

export const smsSettings = z
  .object({
    sms_provider: line,
    sms_auth_key: text,
    sms_auth_token: text,
    sms_from: line,
    sms_to: line,
  })
  .meta({ id: 'SmsSettings' })
export type SmsSettings = z.infer<typeof smsSettings>

export const smtpSettings = z
  .object({
    smtp_host: line,
    smtp_port: z.int().min(1).max(65_535),
    smtp_auth: z.boolean(),
    smtp_username: line,
    smtp_password: text,
    smtp_from: line,
    smtp_to: line,
    smtp_attachment: z.boolean(),
  })
  .meta({ id: 'SmtpSettings' })
export type SmtpSettings = z.infer<typeof smtpSettings>

const secretsQuery = z.strictObject({ is_secret: flagParameter.unwrap() })

export const configRoutes = {
  sms: route({
    method: 'get',
    path: '/config/sms',
    summary: 'Get the settings by which SMS are sent',
    access: 'administer',
    query: secretsQuery,
    status: 200,
    response: smsSettings,
  }),
  smtp: route({
    method: 'get',
    path: '/config/smtp',
    summary: 'Get the settings by which e-mail is sent',
    access: 'administer',
    query: secretsQuery,
    status: 200,
    response: smtpSettings,
  }),
  updateSms: route({
    method: 'post',
    path: '/config/sms/update',
    summary: 'Change the settings by which SMS are sent',
    access: 'own',
    body: smsSettings.strict().partial(),
    status: 200,
    response: null,
  }),
  updateSmtp: route({
    method: 'post',
    path: '/config/smtp/update',
    summary: 'Change the settings by which e-mail is sent',
    access: 'own',
    body: smtpSettings.strict().partial(),
    status: 200,
    response: null,
  }),
}
