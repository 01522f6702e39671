import { randomUUID } from 'node:crypto'
import type { SmtpSettings } from '@eyrie/contract/management/delivery-settings'
import type { Egress } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { mailEgress } from '../../../test/fixtures/network/local-egress.ts'
import { trustCertificate } from '../../../test/fixtures/network/trust-certificate.ts'
import {
  createAttempt,
  createClaimedDelivery,
  createSmtpSettings,
  noSettings,
} from '../../../test/fixtures/scheduler/claimed-delivery.ts'
import { startSmtpReceiver } from '../../../test/fixtures/scheduler/smtp-receiver.ts'
import { createEmailSender } from './email-sender.ts'
import type { Attempt } from './sender.ts'

const send = createEmailSender(mailEgress, 'https://eyrie.example.com')
const delivery = createClaimedDelivery({ action_to: 'guard@example.com' }, { type: 'email' })

const sendWith = (smtp: SmtpSettings, more: Partial<Attempt> = {}) =>
  send(createAttempt(delivery, { settings: { ...noSettings, smtp }, ...more }))

/** Returns a header of an e-mail, whose lines may be folded. */
const readHeader = (content: string, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(content.replace(/\r\n[ \t]+/g, ' '))?.[1]?.trim()

const credentials = { smtp_auth: true, smtp_username: 'box', smtp_password: 'right' }

describe('an e-mail', () => {
  it('has text and HTML, in which texts of people are escaped', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const outcome = await sendWith(createSmtpSettings(server.port))
    expect(outcome).toMatchObject({ state: 'sent', reason: expect.stringContaining('250') })
    const [email] = server.emails
    expect(email).toMatchObject({
      from: 'eyrie@example.com',
      to: ['guard@example.com'],
      isSecure: false,
    })
    expect(email!.content).toContain('Subject: Crowd <b>')
    expect(email!.content).toContain('total is 2 & more')
    expect(email!.content).toContain('<h2>Crowd &lt;b&gt;</h2>')
    expect(email!.content).toContain('https://eyrie.example.com')
    expect(email!.content).toContain('Auto-Submitted: auto-generated')
  })

  it('has the same id in every attempt', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    await sendWith(createSmtpSettings(server.port))
    await sendWith(createSmtpSettings(server.port))
    const ids = server.emails.map(({ content }) => /^Message-ID: (.*)$/im.exec(content)?.[1])
    expect(ids).toEqual([`<${delivery.delivery_id}@eyrie>`, `<${delivery.delivery_id}@eyrie>`])
  })

  it('shows the picture within the HTML if the settings say so', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const readPicture = async () => Buffer.from('picture of a door')
    await sendWith(createSmtpSettings(server.port), { readPicture })
    await sendWith(createSmtpSettings(server.port, { smtp_attachment: true }), { readPicture })
    const encoded = Buffer.from('picture of a door').toString('base64')
    const [without, withPicture] = server.emails.map(({ content }) => content)
    expect(without).not.toContain(encoded)
    expect(withPicture).toContain(encoded)
    expect(withPicture).toContain('cid:picture@eyrie')
  })

  it('goes to the receivers of the settings if the action names none', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const smtp = createSmtpSettings(server.port, { smtp_to: 'a@example.com, b@example.com' })
    const withoutReceiver = createClaimedDelivery({}, { type: 'email' })
    await send(createAttempt(withoutReceiver, { settings: { ...noSettings, smtp } }))
    expect(server.emails[0]!.to).toEqual(['a@example.com', 'b@example.com'])
  })

  it('changes to TLS where the server offers it, and authenticates', async () => {
    const server = await startSmtpReceiver()
    trustCertificate(server.certificate)
    await sendWith(createSmtpSettings(server.port, credentials))
    expect(server.emails).toMatchObject([{ isSecure: true, user: 'box' }])
  })

  it('is not sent to a server with an untrusted certificate', async () => {
    const server = await startSmtpReceiver()
    expect(await sendWith(createSmtpSettings(server.port))).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('self-signed certificate'),
      isTargetDown: true,
    })
    expect(server.emails).toEqual([])
  })

  it('does not send a password without TLS', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    expect(await sendWith(createSmtpSettings(server.port, credentials))).toMatchObject({
      state: 'failed',
    })
    expect(server.emails).toEqual([])
  })
})

describe('an e-mail to the port of implicit TLS', () => {
  const smtp = createSmtpSettings(465, credentials)

  /**
   * A sender whose connections to port 465, which only root can open, lead to the port of the
   * server.
   */
  const sendTo = (port: number, more: Partial<SmtpSettings> = {}) => {
    const connect: Egress['connect'] = (_, options) =>
      mailEgress.connect({ host: '127.0.0.1', port }, options)
    const implicit = createEmailSender({ ...mailEgress, connect }, undefined)
    return implicit(
      createAttempt(delivery, { settings: { ...noSettings, smtp: { ...smtp, ...more } } }),
    )
  }

  it('uses TLS from its beginning, with a verified certificate', async () => {
    const server = await startSmtpReceiver({ secure: true })
    trustCertificate(server.certificate)
    expect(await sendTo(server.port)).toMatchObject({ state: 'sent' })
    expect(server.emails).toMatchObject([{ isSecure: true, user: 'box' }])
  })

  it('is not sent to a server with an untrusted certificate, or with one of another name', async () => {
    const server = await startSmtpReceiver({ secure: true })
    expect(await sendTo(server.port)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('self-signed certificate'),
    })
    trustCertificate(server.certificate)
    expect(await sendTo(server.port, { smtp_host: 'mail.example.com' })).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining("does not match certificate's altnames"),
    })
    expect(server.emails).toEqual([])
  })
})

describe('several e-mails', () => {
  it('share a connection, and use a new one after the server has closed it', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const settings = createSmtpSettings(server.port)
    for (let i = 0; i < 3; i += 1) expect(await sendWith(settings)).toMatchObject({ state: 'sent' })
    expect(server.countConnections()).toBe(1)
    server.closeConnections()
    expect(await sendWith(settings)).toMatchObject({ state: 'sent' })
    expect(server.emails).toHaveLength(4)
    expect(server.countConnections()).toBe(2)
  })

  it('share at most four connections, even if they are the first ones', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const settings = { ...noSettings, smtp: createSmtpSettings(server.port) }
    const sendFirst = createEmailSender(mailEgress, undefined)
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => sendFirst(createAttempt(delivery, { settings }))),
    )
    expect(outcomes.map(({ state }) => state)).toEqual(Array(6).fill('sent'))
    expect(server.countConnections()).toBeLessThanOrEqual(4)
  })

  it('of one thread refer to the same message, and others to another one', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const smtp = createSmtpSettings(server.port)
    for (const threadKey of ['a', 'a', 'b']) {
      const message = createClaimedDelivery({ action_to: 'guard@example.com' }, { type: 'email' })
      const request = { ...message.request, thread_key: threadKey }
      await send(createAttempt({ ...message, request }, { settings: { ...noSettings, smtp } }))
    }
    const read = (name: string) => server.emails.map(email => readHeader(email.content, name))
    const [first, second, other] = read('References')
    expect(first).toMatch(/^<thread-[\da-f]{32}@eyrie>$/)
    expect(second).toBe(first)
    expect(other).not.toBe(first)
    expect(read('In-Reply-To')).toEqual([first, second, other])
    expect(new Set(read('Message-ID')).size).toBe(3)
  })
})

describe('a scheduled report', () => {
  const report = {
    report_id: randomUUID(),
    file_name: 'Visitors-2026-03.csv',
    media_type: 'text/csv; charset=utf-8',
  }
  const message = createClaimedDelivery(
    { action_to: 'office@example.com' },
    { type: 'email', kind: 'report' },
  )
  const reportDelivery = { ...message, request: { ...message.request, message: 'Up: 12', report } }

  it('has the file as an attachment, and no facts of an alert', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const settings = { ...noSettings, smtp: createSmtpSettings(server.port) }
    const readReport = async () => Buffer.from('first_day,up\r\n2026-03-01,12\r\n')
    expect(await send(createAttempt(reportDelivery, { settings, readReport }))).toMatchObject({
      state: 'sent',
    })
    const { content } = server.emails[0]!
    expect(content).toContain('Up: 12')
    expect(content).toContain('Content-Disposition: attachment; filename=Visitors-2026-03.csv')
    expect(content).toContain((await readReport()).toString('base64'))
    expect(content).not.toContain('Priority')
  })

  it('is given up if its file was deleted', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const settings = { ...noSettings, smtp: createSmtpSettings(server.port) }
    expect(await send(createAttempt(reportDelivery, { settings }))).toEqual({
      state: 'dead',
      reason: 'the file of the report was deleted',
    })
    expect(server.emails).toEqual([])
  })
})

describe('a digest', () => {
  const digest = createClaimedDelivery(
    { action_to: 'guard@example.com' },
    { type: 'email', unsubscribe_token: 'sealed1:a_b' },
  )
  const link = 'https://eyrie.example.com/unsubscribe?token=sealed1%3Aa_b'

  async function sendDigest(publicUrl: string | undefined, more: object = {}) {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const settings = { ...noSettings, smtp: createSmtpSettings(server.port) }
    const outcome = await createEmailSender(
      mailEgress,
      publicUrl,
    )(createAttempt({ ...digest, ...more }, { settings }))
    return { outcome, content: server.emails[0]?.content }
  }

  it('is unsubscribed from with one click, or by a link in its text (RFC 8058)', async () => {
    const { content = '' } = await sendDigest('https://eyrie.example.com/')
    expect(readHeader(content, 'List-Unsubscribe')).toBe(`<${link}>`)
    expect(readHeader(content, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
    expect(content.replace(/=\r\n/g, '').replaceAll('=3D', '=')).toContain(link)
  })

  it('has no link for one click without TLS, and none if no address is configured', async () => {
    const { content: plain = '' } = await sendDigest('http://eyrie.local')
    expect(readHeader(plain, 'List-Unsubscribe')).toContain('http://eyrie.local/unsubscribe')
    expect(readHeader(plain, 'List-Unsubscribe-Post')).toBeUndefined()
    const { content: none = '' } = await sendDigest(undefined)
    expect(readHeader(none, 'List-Unsubscribe')).toBeUndefined()
  })

  it('is not sent to a receiver who has unsubscribed', async () => {
    const { outcome, content } = await sendDigest(undefined, { is_unsubscribed: true })
    expect(outcome).toEqual({ state: 'dead', reason: expect.stringContaining('unsubscribed') })
    expect(content).toBeUndefined()
  })
})

describe('the outcome of an e-mail', () => {
  it('is a failure with the words of the server for a wrong password', async () => {
    const server = await startSmtpReceiver()
    trustCertificate(server.certificate)
    const smtp = createSmtpSettings(server.port, { ...credentials, smtp_password: 'wrong' })
    expect(await sendWith(smtp)).toEqual({
      state: 'failed',
      reason: expect.stringContaining('535'),
      isTargetDown: true,
    })
  })

  it.each([
    [550, { state: 'dead' }],
    [450, { state: 'failed', isTargetDown: false }],
  ])('follows the reply %d to the receiver', async (responseCode, expected) => {
    const server = await startSmtpReceiver({
      disabledCommands: ['STARTTLS'],
      onRcptTo: (_address, _session, callback) =>
        callback(Object.assign(new Error('no such mailbox'), { responseCode })),
    })
    expect(await sendWith(createSmtpSettings(server.port))).toEqual({
      ...expected,
      reason: `${responseCode} no such mailbox`,
    })
  })

  it('is a failure if the server cannot be reached, or is silent until the time is over', async () => {
    expect(await sendWith(createSmtpSettings(9))).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('ECONNREFUSED'),
      isTargetDown: true,
    })
    const attempt = new AbortController()
    const silent = await startSmtpReceiver({
      disabledCommands: ['STARTTLS'],
      onMailFrom: () => attempt.abort(),
    })
    expect(
      await sendWith(createSmtpSettings(silent.port), { signal: attempt.signal }),
    ).toMatchObject({
      state: 'failed',
      isTargetDown: true,
    })
  })

  it.each([
    [{ smtp_host: '' }, { state: 'failed', reason: expect.stringContaining('smtp_host') }],
    [{ smtp_from: '' }, { state: 'failed', reason: expect.stringContaining('smtp_from') }],
    [
      { smtp_host: '169.254.169.254' },
      { state: 'dead', reason: expect.stringContaining('metadata') },
    ],
  ])('says what is missing in the settings %j', async (settings, expected) => {
    expect(await sendWith(createSmtpSettings(25, settings))).toMatchObject(expected)
  })
})
