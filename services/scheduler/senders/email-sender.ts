import type { SmtpSettings } from '@eyrie/contract/management/delivery-settings'
import { type Egress, EgressDeniedError } from '@eyrie/kit'
import { createEmailHeaders } from './email-headers.ts'
import { createEmailMessage } from './email-message.ts'
import type { MailTransport, MailTransports } from './mail-transports.ts'
import { type Attempt, createNotConfigured, type Outcome, quote, type Sender } from './sender.ts'

const NO_SERVER =
  'no mail server is configured: ask a superadmin to set smtp_host (/config/smtp/update)'
const NO_SENDER =
  'the e-mail has no sender: ask a superadmin to set smtp_from (/config/smtp/update)'
const NO_RECEIVER =
  'the e-mail has no receiver: set action_to of the alert, or smtp_to of the settings'
const UNSUBSCRIBED =
  'the receiver has unsubscribed from digests: a superadmin can list such addresses (/delivery/unsubscribed/list)'
const NO_REPORT = 'the file of the report was deleted'
const TOO_SLOW = 'the mail server did not answer in time'

/**
 * Creates a sender of e-mails through the mail server of the settings. `publicUrl` is the address
 * of the console for links.
 */
export function createEmailSender(egress: Egress, publicUrl: string | undefined): Sender {
  let transports: MailTransports | undefined
  return async attempt => {
    const route = findRoute(attempt)
    if ('state' in route) return route

    // Loads the mail library with the first e-mail, because it takes memory that many never need.
    const { createMailTransports } = await import('./mail-transports.ts')
    // Nothing is awaited between the check and the assignment, so that concurrent e-mails share
    // the connections.
    transports ??= createMailTransports(egress)
    try {
      return await send(attempt, transports.get(route.smtp), route, publicUrl)
    } catch (error) {
      if (error instanceof EgressDeniedError) return { state: 'dead', reason: error.message }
      if (attempt.signal.aborted) return { state: 'failed', reason: TOO_SLOW, isTargetDown: true }
      return explainFailure(error as SmtpError)
    }
  }
}

/** The mail server and the addresses of an e-mail. */
interface Route {
  smtp: SmtpSettings
  from: string
  to: string
}

/** Returns the route of an e-mail, or the outcome of an e-mail that cannot be sent. */
function findRoute({ settings, delivery }: Attempt): Route | Outcome {
  const { smtp } = settings
  if (!smtp || smtp.smtp_host === '') return createNotConfigured(NO_SERVER)
  const from = smtp.smtp_from || smtp.smtp_username
  if (from === '') return createNotConfigured(NO_SENDER)
  const to = delivery.request.action.action_to || smtp.smtp_to
  if (to === '') return { state: 'dead', reason: NO_RECEIVER }
  if (delivery.is_unsubscribed) return { state: 'dead', reason: UNSUBSCRIBED }
  return { smtp, from, to }
}

async function send(
  { delivery, signal, readPicture, readReport }: Attempt,
  transport: MailTransport,
  { from, to, smtp }: Route,
  publicUrl: string | undefined,
): Promise<Outcome> {
  const picture = smtp.smtp_attachment ? await readPicture() : undefined
  const report = await readReport()
  if (delivery.request.report && !report) return { state: 'dead', reason: NO_REPORT }

  const { response, rejected } = await transport.sendMail({
    from,
    to,
    subject: delivery.request.subject,
    ...createEmailMessage(delivery, { picture, report }, publicUrl),
    ...createEmailHeaders(delivery, publicUrl),
    signal,
  })
  const refused = rejected.length > 0 ? `; refused for ${rejected.map(String).join(', ')}` : ''
  return { state: 'sent', reason: quote(response + refused) }
}

/** An error of nodemailer. */
interface SmtpError extends Error {
  code?: string
  /** The server's answer. */
  response?: string
  /** The status code of the answer. */
  responseCode?: number
}

/**
 * Converts an error to an outcome: `dead` if the server permanently refuses the receivers or the
 * content, otherwise `failed`, which is tried again.
 */
function explainFailure({ code, message, response, responseCode = 0 }: SmtpError): Outcome {
  const reason = quote(response ?? message)
  // Other errors, of the connection or the login, concern every message.
  const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  // Codes from 500 on are permanent (RFC 5321, section 4.2.1).
  if (isAboutMessage && responseCode >= 500) return { state: 'dead', reason }
  return { state: 'failed', reason, isTargetDown: !isAboutMessage }
}
