import { z } from 'zod'
import { flag } from '../query.ts'
import { text } from './fields.ts'
import { route } from './route.ts'

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

const mayReveal = z.strictObject({ is_secret: flag.unwrap() })

export const configRoutes = {
  sms: route({
    method: 'get',
    path: '/config/sms',
    summary: 'Get the settings by which SMS are sent',
    access: 'administer',
    query: mayReveal,
    status: 200,
    answer: smsSettings,
  }),
  smtp: route({
    method: 'get',
    path: '/config/smtp',
    summary: 'Get the settings by which e-mail is sent',
    access: 'administer',
    query: mayReveal,
    status: 200,
    answer: smtpSettings,
  }),
  updateSms: route({
    method: 'post',
    path: '/config/sms/update',
    summary: 'Change the settings by which SMS are sent',
    access: 'own',
    body: smsSettings.strict().partial(),
    status: 200,
    answer: null,
  }),
  updateSmtp: route({
    method: 'post',
    path: '/config/smtp/update',
    summary: 'Change the settings by which e-mail is sent',
    access: 'own',
    body: smtpSettings.strict().partial(),
    status: 200,
    answer: null,
  }),
}
