import { z } from 'zod'
import { booleanParameter } from '../parameters.ts'
import { route } from './management-route.ts'
import { text } from './record-fields.ts'

/** Settings in the management API for the delivery of notifications by SMS and e-mail. */

/** Text that becomes a header of a message, where a line break would inject another header. */
const line = text.regex(/^[^\r\n]*$/, { error: 'must not contain a line break' })

const RECEIVERS = 'Receivers of actions without action_to, separated by commas'

/** Settings of the SMS provider that delivers notifications. */
export const smsSettings = z
  .object({
    sms_provider: line.meta({ description: '`twilio`, or the address of another server' }),
    sms_auth_key: text.meta({ description: 'Account SID' }),
    sms_auth_token: text.meta({ description: 'Auth Token, a secret' }),
    sms_from: line.meta({ description: 'Sender: a number, a name or a Messaging Service SID' }),
    sms_to: line.meta({ description: RECEIVERS }),
  })
  .meta({ id: 'SmsSettings' })
export type SmsSettings = z.infer<typeof smsSettings>

/** Settings of the SMTP server (RFC 5321) that delivers notifications by e-mail. */
export const smtpSettings = z
  .object({
    smtp_host: line,
    smtp_port: z.int().min(1).max(65_535),
    smtp_auth: z.boolean().meta({
      description:
        'Whether to sign in with the user name and password, which requires STARTTLS or TLS',
    }),
    smtp_username: line,
    smtp_password: text,
    smtp_from: line.meta({ description: 'Sender, such as `Eyrie <eyrie@example.com>`' }),
    smtp_to: line.meta({ description: RECEIVERS }),
    smtp_attachment: z
      .boolean()
      .meta({ description: 'Whether e-mails show the picture of the notification' }),
  })
  .meta({ id: 'SmtpSettings' })
export type SmtpSettings = z.infer<typeof smtpSettings>

const secretsQuery = z.strictObject({
  is_secret: booleanParameter.meta({
    type: 'boolean',
    description: 'Whether secrets are returned in clear text',
  }),
})

export const deliverySettingsRoutes = {
  getSms: route({
    method: 'get',
    path: '/config/sms',
    summary: 'Get the SMS delivery settings',
    access: 'administer',
    query: secretsQuery,
    status: 200,
    response: smsSettings,
  }),

  getSmtp: route({
    method: 'get',
    path: '/config/smtp',
    summary: 'Get the e-mail delivery settings',
    access: 'administer',
    query: secretsQuery,
    status: 200,
    response: smtpSettings,
  }),

  updateSms: route({
    method: 'post',
    path: '/config/sms/update',
    summary: 'Update the SMS delivery settings',
    description: 'Omitted fields are preserved.',
    access: 'own',
    body: smsSettings.strict().partial(),
    status: 200,
    response: null,
  }),

  updateSmtp: route({
    method: 'post',
    path: '/config/smtp/update',
    summary: 'Update the e-mail delivery settings',
    description: 'Omitted fields are preserved.',
    access: 'own',
    body: smtpSettings.strict().partial(),
    status: 200,
    response: null,
  }),
}
