import { limitBodySize } from '@eyrie/kit/request-body'
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import type { Database } from '../db/database.ts'
import {
  isUnsubscribed,
  readUnsubscribeToken,
  resubscribe,
  unsubscribe,
} from '../deliveries/unsubscribed-addresses.ts'
import type { Secrets } from '../secrets/secrets.ts'

export interface UnsubscribeRoutesOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  secrets(): Secrets
}

/** The form field by which a mail program unsubscribes with one click (RFC 8058, section 3.1). */
const ONE_CLICK = { name: 'List-Unsubscribe', value: 'One-Click' }
const MAX_BODY_BYTES = 4 * 1024

/**
 * The page on which a receiver unsubscribes from digests, which are e-mails that summarize alerts.
 * Each digest links to the page. The token in the link is the only permission that is needed. `GET`
 * changes nothing, because programs that check e-mails open their links.
 */
export function createUnsubscribeRoutes({ database, secrets }: UnsubscribeRoutesOptions): Hono {
  const app = new Hono()
  const findAddress = (c: Context) => readUnsubscribeToken(c.req.query('token') ?? '', secrets())

  app.use('/unsubscribe', async (c, next) => {
    await next()
    c.header('Cache-Control', 'no-store')
    c.header('Referrer-Policy', 'no-referrer')
  })

  app.get('/unsubscribe', async c => {
    const address = findAddress(c)
    if (address === undefined) return showInvalid(c)
    const hasUnsubscribed = await database().system('unsubscribe', tx =>
      isUnsubscribed(tx, address),
    )
    return showState(c, address, hasUnsubscribed)
  })

  app.post('/unsubscribe', limitBodySize(MAX_BODY_BYTES), async c => {
    const address = findAddress(c)
    if (address === undefined) return showInvalid(c)
    const form = await c.req.parseBody()
    // The page itself sends the field `digests`.
    const isUnsubscribing = form[ONE_CLICK.name] === ONE_CLICK.value || form.digests === 'off'
    await database().system('unsubscribe', tx =>
      isUnsubscribing ? unsubscribe(tx, address) : resubscribe(tx, address),
    )
    return showState(c, address, isUnsubscribing)
  })

  return app
}

const showInvalid = (c: Context) =>
  c.html(createPage(html`<p>This link is incomplete. Use the link in the latest e-mail.</p>`), 400)

/** Shows whether an address receives digests, with a button that changes this. */
function showState(c: Context, address: string, hasUnsubscribed: boolean) {
  const { state, change, button } = hasUnsubscribed
    ? {
        state: `${address} receives no more summaries.`,
        change: 'on',
        button: 'Receive summaries again',
      }
    : {
        state: `${address} receives summaries of alerts.`,
        change: 'off',
        button: 'Stop summaries',
      }
  const note = 'Messages about single alerts are not summaries: the alerts name their receivers.'
  return c.html(
    createPage(html`<p>${state}</p>
      <form method="post">
        <input type="hidden" name="digests" value="${change}">
        <button type="submit">${button}</button>
      </form>
      <p>${note}</p>`),
  )
}

const createPage = (content: unknown) => html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Summaries of alerts</title>
    </head>
    <body>
      <h1>Summaries of alerts</h1>
      ${content}
    </body>
  </html>`
