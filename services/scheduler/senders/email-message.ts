import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import { createUnsubscribeLink } from './email-headers.ts'

/** An e-mail as plain text and as HTML, with its attachments. */
export interface EmailMessage {
  text: string
  html: string
  /** The HTML shows the attachment with a `cid`, which is the picture. */
  attachments: Attachment[]
}

interface Attachment {
  filename: string
  content: Buffer
  contentType: string
  cid?: string
}

/** Files that an e-mail contains in addition to its text. Undefined if the e-mail has none. */
export interface EmailFiles {
  /** A JPEG. */
  picture: Buffer | undefined
  /** The file of a scheduled report. */
  report: Buffer | undefined
}

const PICTURE_ID = 'picture@eyrie'
const UNSUBSCRIBE_TITLE = 'Stop these summaries'

/**
 * Creates the e-mail of a delivery. `publicUrl` is the address at which people reach the console;
 * without it, the e-mail has no links to the appliance.
 */
export function createEmailMessage(
  { request, unsubscribe_token: unsubscribeToken }: ClaimedDelivery,
  files: EmailFiles,
  publicUrl: string | undefined,
): EmailMessage {
  const content = {
    subject: request.subject,
    message: request.message,
    facts: listFacts(request),
    links: listLinks(request.action.action_external_link, publicUrl),
    unsubscribeLink:
      unsubscribeToken === null ? undefined : createUnsubscribeLink(unsubscribeToken, publicUrl),
  }
  return {
    text: renderText(content),
    html: renderHtml(content, { hasPicture: files.picture !== undefined }),
    attachments: listAttachments(request, files),
  }
}

/** The content of an e-mail, unescaped. */
interface EmailContent {
  subject: string
  message: string
  /** Lines such as `Priority: high`. */
  facts: readonly string[]
  links: readonly string[]
  unsubscribeLink: string | undefined
}

/** Returns the links that are configured: the others are empty or undefined. */
const listLinks = (...links: readonly (string | undefined)[]): string[] =>
  links.filter(link => link !== undefined).filter(link => link !== '')

function listFacts({
  details,
  system_alerts: systemAlerts,
  report,
}: ClaimedDelivery['request']): string[] {
  // The messages of system alerts and reports already contain their facts.
  if (systemAlerts || report) return []
  return [
    `Channel: ${details.channel_name}`,
    `Alert: ${details.alert_name}`,
    `Priority: ${details.alert_priority}`,
    `Time: ${details.time}`,
  ]
}

function renderText({ message, facts, links, unsubscribeLink }: EmailContent): string {
  const paragraphs = [message, facts.join('\n'), ...links]
  if (unsubscribeLink) paragraphs.push(`${UNSUBSCRIBE_TITLE}: ${unsubscribeLink}`)
  return paragraphs.filter(paragraph => paragraph !== '').join('\n\n')
}

function renderHtml(
  { subject, message, facts, links, unsubscribeLink }: EmailContent,
  { hasPicture }: { hasPicture: boolean },
): string {
  return [
    '<!doctype html><html><body style="font-family: sans-serif">',
    `<h2>${escapeHtml(subject)}</h2>`,
    `<p>${escapeHtml(message).replaceAll('\n', '<br>')}</p>`,
    hasPicture ? `<p><img src="cid:${PICTURE_ID}" alt="" style="max-width: 100%"></p>` : '',
    facts.length > 0 ? `<p>${facts.map(escapeHtml).join('<br>')}</p>` : '',
    ...links.map(link => renderLink(link, link)),
    unsubscribeLink ? renderLink(unsubscribeLink, UNSUBSCRIBE_TITLE) : '',
    '</body></html>',
  ].join('\n')
}

function listAttachments(
  { report: reportInfo }: ClaimedDelivery['request'],
  { picture, report }: EmailFiles,
): Attachment[] {
  const attachments: Attachment[] = []
  if (picture) {
    attachments.push({
      filename: 'picture.jpg',
      content: picture,
      contentType: 'image/jpeg',
      cid: PICTURE_ID,
    })
  }
  if (report && reportInfo) {
    const { file_name: fileName, media_type: mediaType } = reportInfo
    attachments.push({ filename: fileName, content: report, contentType: mediaType })
  }
  return attachments
}

/**
 * Renders a link as a paragraph. A link with another scheme than HTTP, such as
 * `javascript:`, becomes text.
 */
function renderLink(link: string, title: string): string {
  const isHttp = /^https?:\/\//i.test(link)
  const content = isHttp
    ? `<a href="${escapeHtml(link)}">${escapeHtml(title)}</a>`
    : escapeHtml(title)
  return `<p>${content}</p>`
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, character => ENTITIES[character]!)
