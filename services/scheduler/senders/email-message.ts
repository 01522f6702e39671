import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import { createUnsubscribeLink } from './email-headers.ts'

/** The parts of an e-mail. */
export interface EmailMessage {
  text: string
  html: string
  /** A picture has a `cid`, by which the HTML shows it. */
  attachments: { filename: string; content: Buffer; contentType: string; cid?: string }[]
}

const PICTURE_ID = 'picture@eyrie'
const UNSUBSCRIBE = 'Stop these summaries'

/** What an e-mail contains in addition to its text. */
export interface EmailFiles {
  picture: Buffer | undefined
  /** The file of a scheduled report. */
  report: Buffer | undefined
}

/** Creates the text of an e-mail, as plain text and as HTML with the picture in it, and its attachments. */
export function createEmailMessage(
  { request, unsubscribe_token }: ClaimedDelivery,
  { picture, report }: EmailFiles,
  publicUrl: string | undefined,
): EmailMessage {
  const { subject, message, details, action } = request
  const links = [action.action_external_link, publicUrl].flatMap(link => link || [])
  const facts = [
    ['Channel', details.channel_name],
    ['Alert', details.alert_name],
    ['Priority', details.alert_priority],
    ['Time', details.time],
  ] as const
  const unsubscribe =
    unsubscribe_token === null ? undefined : createUnsubscribeLink(unsubscribe_token, publicUrl)
  // The messages about system alerts and reports contain their facts.
  const factLines =
    request.system_alerts || request.report ? [] : facts.map(([name, value]) => `${name}: ${value}`)
  return {
    text: [
      message,
      factLines.join('\n'),
      ...links,
      ...(unsubscribe ? [`${UNSUBSCRIBE}: ${unsubscribe}`] : []),
    ]
      .filter(part => part !== '')
      .join('\n\n'),
    html: [
      '<!doctype html><html><body style="font-family: sans-serif">',
      `<h2>${escapeHtml(subject)}</h2>`,
      `<p>${escapeHtml(message).replaceAll('\n', '<br>')}</p>`,
      picture ? `<p><img src="cid:${PICTURE_ID}" alt="" style="max-width: 100%"></p>` : '',
      `<p>${factLines.map(escapeHtml).join('<br>')}</p>`,
      ...links.map(link => formatLink(link)),
      unsubscribe ? formatLink(unsubscribe, UNSUBSCRIBE) : '',
      '</body></html>',
    ].join('\n'),
    attachments: [
      ...(picture
        ? [{ filename: 'picture.jpg', content: picture, contentType: 'image/jpeg', cid: PICTURE_ID }]
        : []),
      ...(report && request.report
        ? [{ filename: request.report.file_name, content: report, contentType: request.report.media_type }]
        : []),
    ],
  }
}

/** Other schemes than HTTP, such as `javascript:`, become text. */
const formatLink = (link: string, title = link) => {
  const text = escapeHtml(title)
  return /^https?:\/\//i.test(link) ? `<p><a href="${escapeHtml(link)}">${text}</a></p>` : `<p>${text}</p>`
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, character => ENTITIES[character]!)
