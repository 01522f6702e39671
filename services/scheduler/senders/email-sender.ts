import type { SmtpSettings } from '@eyrie/contract/management/delivery-settings'
import { type Egress, EgressDeniedError } from '@eyrie/kit'
import { createEmailHeaders } from './email-headers.ts'
import { createEmailMessage } from './email-message.ts'
import type { MailTransports } from './mail-transports.ts'
import { type Attempt, type Outcome, quote, type Sender } from './sender.ts'

const NO_SERVER = 'no mail server is configured: ask a superadmin to set smtp_host (/config/smtp/update)'
const NO_SENDER = 'the e-mail has no sender: ask a superadmin to set smtp_from (/config/smtp/update)'
const NO_RECEIVER = 'the e-mail has no receiver: set action_to of the alert, or smtp_to of the settings'
const UNSUBSCRIBED =
  'the receiver has unsubscribed from digests: a superadmin can list such addresses (/delivery/unsubscribed/list)'
const NO_REPORT = 'the file of the report was deleted'
const TOO_SLOW = 'the mail server did not answer in time'

/** Sends e-mails through the mail server of the settings. `dead` outcomes are final; failed deliveries are tried again. */
export function createEmailSender(egress: Egress, publicUrl: string | undefined): Sender {
  let transports: MailTransports | undefined
  return async attempt => {
    const { smtp } = attempt.settings
    const { request, is_unsubscribed } = attempt.delivery
    if (!smtp || smtp.smtp_host === '') return { state: 'failed', reason: NO_SERVER, isTargetDown: true }
    const from = smtp.smtp_from || smtp.smtp_username
    if (from === '') return { state: 'failed', reason: NO_SENDER, isTargetDown: true }
    const to = request.action.action_to || smtp.smtp_to
    if (to === '') return { state: 'dead', reason: NO_RECEIVER }
    if (is_unsubscribed) return { state: 'dead', reason: UNSUBSCRIBED }

    // Loads the library with the first e-mail.
    transports ??= (await import('./mail-transports.ts')).createMailTransports(egress)
    try {
      return await send(attempt, smtp, { from, to }, transports, publicUrl)
    } catch (error) {
      if (error instanceof EgressDeniedError) return { state: 'dead', reason: error.message }
      if (attempt.signal.aborted) return { state: 'failed', reason: TOO_SLOW, isTargetDown: true }
      return explainFailure(error as SmtpError)
    }
  }
}

async function send(
  { delivery, signal, readPicture, readReport }: Attempt,
  smtp: SmtpSettings,
  addresses: { from: string; to: string },
  transports: MailTransports,
  publicUrl: string | undefined,
): Promise<Outcome> {
  const picture = smtp.smtp_attachment ? await readPicture() : undefined
  const report = await readReport()
  if (delivery.request.report && !report) return { state: 'dead', reason: NO_REPORT }
  const { response, rejected } = await transports.use(smtp).sendMail({
    ...addresses,
    subject: delivery.request.subject,
    ...createEmailMessage(delivery, { picture, report }, publicUrl),
    ...createEmailHeaders(delivery, publicUrl),
    signal,
  })
  const refused = rejected.length > 0 ? `; refused for ${rejected.map(String).join(', ')}` : ''
  return { state: 'sent', reason: quote(response + refused) }
}

/** An error of nodemailer, with the answer of the server. */
interface SmtpError extends Error {
  code?: string
  response?: string
  responseCode?: number
}

/** A server that refuses the receivers or the content for good (RFC 5321, 4.2.1) refuses this message only. */
function explainFailure({ code, message, response, responseCode = 0 }: SmtpError): Outcome {
  const reason = quote(response ?? message)
  const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  if (isAboutMessage && responseCode >= 500) return { state: 'dead', reason }
  return { state: 'failed', reason, isTargetDown: !isAboutMessage }
}
