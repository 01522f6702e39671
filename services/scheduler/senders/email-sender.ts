import { isIP } from 'node:net'
import type { SmtpSettings } from '@eyrie/contract/management/delivery-settings'
import { type Egress, EgressDeniedError } from '@eyrie/kit'
import { createTransport } from 'nodemailer'
import { createEmailMessage } from './email-message.ts'
import { type Attempt, type Outcome, quote, type Sender } from './sender.ts'

/** The port of SMTP inside TLS (RFC 8314). On other ports, a connection begins without TLS and changes to it (STARTTLS). */
const IMPLICIT_TLS_PORT = 465

const NO_SERVER = 'no mail server is configured: a superadmin sets smtp_host with /config/smtp/update'
const NO_SENDER = 'the e-mail has no sender: a superadmin sets smtp_from with /config/smtp/update'
const NO_RECEIVER = 'the e-mail has no receiver: set action_to of the alert, or smtp_to of the settings'

/** Sends e-mails by the mail server of the settings, which passes them on. */
export function createEmailSender(egress: Egress, publicUrl: string | undefined): Sender {
  return async attempt => {
    const { smtp } = attempt.settings
    if (!smtp || smtp.smtp_host === '') return { state: 'failed', reason: NO_SERVER, isTargetDown: true }
    const from = smtp.smtp_from || smtp.smtp_username
    if (from === '') return { state: 'failed', reason: NO_SENDER, isTargetDown: true }
    const to = attempt.delivery.request.action.action_to || smtp.smtp_to
    if (to === '') return { state: 'dead', reason: NO_RECEIVER }

    try {
      return await send(attempt, smtp, { from, to }, egress, publicUrl)
    } catch (error) {
      if (error instanceof EgressDeniedError) return { state: 'dead', reason: error.message }
      return explainFailure(error as SmtpError)
    }
  }
}

async function send(
  { delivery, signal, readPicture }: Attempt,
  smtp: SmtpSettings,
  addresses: { from: string; to: string },
  egress: Egress,
  publicUrl: string | undefined,
): Promise<Outcome> {
  const { smtp_host: host, smtp_port: port, smtp_auth, smtp_username, smtp_password } = smtp
  const picture = smtp.smtp_attachment ? await readPicture() : undefined
  const connection = await egress.connect({ host, port }, { signal })
  const abort = () => connection.destroy(new Error('the mail server did not answer in time'))
  signal.addEventListener('abort', abort, { once: true })
  try {
    const transport = createTransport({
      connection,
      host,
      port,
      secure: port === IMPLICIT_TLS_PORT,
      // A password is never sent without TLS.
      requireTLS: smtp_auth,
      tls: { servername: isIP(host) ? '' : host },
      ...(smtp_auth && { auth: { user: smtp_username, pass: smtp_password } }),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const { response, rejected } = await transport.sendMail({
      ...addresses,
      subject: delivery.request.subject,
      ...createEmailMessage(delivery, picture, publicUrl),
      // The same for all attempts, so that a mailbox shows a repeated message once.
      messageId: `<${delivery.delivery_id}@eyrie>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    const refused = rejected.length > 0 ? `; refused for ${rejected.map(String).join(', ')}` : ''
    return { state: 'sent', reason: quote(response + refused) }
  } finally {
    signal.removeEventListener('abort', abort)
    connection.destroy()
  }
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
