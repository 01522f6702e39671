import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { SmtpSettings } from '@eyrie/contract/management/delivery-settings'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mailEgress } from '../../../test/fixtures/network/local-egress.ts'
import {
  createAttempt,
  createClaimedDelivery,
  createSmtpSettings,
} from '../../../test/fixtures/scheduler/claimed-delivery.ts'
import { startSmtpReceiver } from '../../../test/fixtures/scheduler/smtp-receiver.ts'
import { createEmailSender } from './email-sender.ts'
import type { Attempt } from './sender.ts'

const send = createEmailSender(mailEgress, 'https://eyrie.example.com')
const delivery = createClaimedDelivery({ action_to: 'guard@example.com' }, { type: 'email' })

const sendWith = (smtp: SmtpSettings, more: Partial<Attempt> = {}) =>
  send(createAttempt(delivery, { settings: { smtp, sms: null }, ...more }))

/** Trusts a certificate until the end of the test. */
function trust(certificate: string): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, certificate])
  onTestFinished(() => setDefaultCACertificates(before))
}

const credentials = { smtp_auth: true, smtp_username: 'box', smtp_password: 'right' }

describe('an e-mail', () => {
  it('has text and HTML, in which texts of people are escaped', async () => {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const outcome = await sendWith(createSmtpSettings(server.port))
    expect(outcome).toMatchObject({ state: 'sent', reason: expect.stringContaining('250') })
    const [email] = server.emails
    expect(email).toMatchObject({ from: 'eyrie@example.com', to: ['guard@example.com'], isSecure: false })
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
    await send(createAttempt(withoutReceiver, { settings: { smtp, sms: null } }))
    expect(server.emails[0]!.to).toEqual(['a@example.com', 'b@example.com'])
  })

  it('changes to TLS where the server offers it, and authenticates', async () => {
    const server = await startSmtpReceiver()
    trust(server.certificate)
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
    expect(await sendWith(createSmtpSettings(server.port, credentials))).toMatchObject({ state: 'failed' })
    expect(server.emails).toEqual([])
  })
})

describe('the outcome of an e-mail', () => {
  it('is a failure with the words of the server for a wrong password', async () => {
    const server = await startSmtpReceiver()
    trust(server.certificate)
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
    expect(await sendWith(createSmtpSettings(silent.port), { signal: attempt.signal })).toMatchObject({
      state: 'failed',
      isTargetDown: true,
    })
  })

  it.each([
    [{ smtp_host: '' }, { state: 'failed', reason: expect.stringContaining('smtp_host') }],
    [{ smtp_from: '' }, { state: 'failed', reason: expect.stringContaining('smtp_from') }],
    [{ smtp_host: '169.254.169.254' }, { state: 'dead', reason: expect.stringContaining('metadata') }],
  ])('says what is missing in the settings %j', async (settings, expected) => {
    expect(await sendWith(createSmtpSettings(25, settings))).toMatchObject(expected)
  })
})
