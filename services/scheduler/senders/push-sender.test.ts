import { generateKeyPairSync } from 'node:crypto'
import { vapidKey } from '@eyrie/contract/management/delivery-queue'
import { createEgress, readEnvironment } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { localWebhookEgress } from '../../../test/fixtures/network/local-egress.ts'
import { trustCertificate } from '../../../test/fixtures/network/trust-certificate.ts'
import {
  createAttempt,
  createClaimedDelivery,
  noSettings,
} from '../../../test/fixtures/scheduler/claimed-delivery.ts'
import { startPushService } from '../../../test/fixtures/scheduler/push-service.ts'
import { createPushSender } from './push-sender.ts'
import type { Attempt } from './sender.ts'

const { kty, crv, x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  format: 'jwk',
})
const senderKey = vapidKey.parse({ kty, crv, x, y, d })
const send = createPushSender(localWebhookEgress, 'https://eyrie.example.com')

type Service = Awaited<ReturnType<typeof startPushService>>

const createPush = (
  { subscription }: Pick<Service, 'subscription'>,
  request: object = {},
  more: Partial<Attempt> = {},
) => {
  const delivery = createClaimedDelivery({}, { type: 'push', push: subscription })
  const settings = { ...noSettings, vapid_key: senderKey }
  return createAttempt(
    { ...delivery, request: { ...delivery.request, ...request } },
    { settings, ...more },
  )
}

/** Starts a service whose certificate is trusted. */
async function startTrusted(answer?: Parameters<typeof startPushService>[0]) {
  const service = await startPushService(answer)
  trustCertificate(service.certificate)
  return service
}

describe('a push message', () => {
  it('is encrypted for the browser, signed by the appliance, and has texts and a link', async () => {
    const service = await startTrusted()
    const attempt = createPush(service)
    expect(await send(attempt)).toEqual({ state: 'sent', reason: '201' })
    const [received] = service.messages
    const { delivery_id: deliveryId } = attempt.delivery
    expect(received!.message).toEqual({
      id: deliveryId,
      title: 'Crowd <b>',
      body: 'total is 2 & more',
      link: '/',
    })
    expect(received!.claims.sub).toBe('https://eyrie.example.com')
    expect(Buffer.from(received!.key, 'base64url').subarray(1, 33).toString('base64url')).toBe(
      senderKey.x,
    )
    expect(received!.headers).toMatchObject({
      urgency: 'normal',
      topic: deliveryId.replaceAll('-', ''),
    })
  })

  it('fits into the 4096 bytes of push services, however long its texts are', async () => {
    const service = await startTrusted()
    const long = { subject: '🚨'.repeat(4000), message: '\u0001'.repeat(4000) }
    const link = `https://wiki.example/${'x'.repeat(900)}`
    const action = { action_external_link: link }
    expect(await send(createPush(service, { ...long, action }))).toMatchObject({ state: 'sent' })
    const [received] = service.messages
    expect(received!.message.link).toBe(link)
    expect(received!.message.title.endsWith('…')).toBe(true)
  })

  it('does not link to addresses that would run code', async () => {
    const service = await startTrusted()
    await send(createPush(service, { action: { action_external_link: 'javascript:alert(1)' } }))
    expect(service.messages[0]!.message.link).toBe('/')
  })

  it('is urgent for alerts of high priority', async () => {
    const service = await startTrusted()
    const attempt = createPush(service)
    const details = { ...attempt.delivery.request.details, alert_priority: 'critical' }
    await send(createPush(service, { details }))
    expect(service.messages[0]!.headers.urgency).toBe('high')
  })

  it('is encrypted differently each time', async () => {
    const service = await startTrusted()
    const attempt = createPush(service)
    await send(attempt)
    await send(attempt)
    expect(service.messages.map(({ message }) => message.id)).toEqual([
      attempt.delivery.delivery_id,
      attempt.delivery.delivery_id,
    ])
  })
})

describe('the outcome of a push message', () => {
  const answered = async (status: number, headers: Record<string, string> = {}) =>
    send(
      createPush(
        await startTrusted(response => response.writeHead(status, headers).end('no\n way')),
      ),
    )

  it.each([
    [404, { state: 'dead', isReceiverGone: true }],
    [410, { state: 'dead', isReceiverGone: true }],
    [413, { state: 'dead' }],
    [400, { state: 'failed', isTargetDown: false }],
    [403, { state: 'failed', isTargetDown: false }],
    [429, { state: 'failed', isTargetDown: true, retryAfterMs: 9000 }],
    [500, { state: 'failed', isTargetDown: true, retryAfterMs: 9000 }],
  ])('after status %d quotes the answer', async (status, expected) => {
    const outcome = await answered(status, { 'Retry-After': '9' })
    expect(outcome).toMatchObject({ ...expected, reason: `${status} no way` })
    expect('isReceiverGone' in outcome).toBe('isReceiverGone' in expected)
  })

  it('is final without a browser, or with one at an address that the rules deny', async () => {
    const none = createAttempt(createClaimedDelivery({}, { type: 'push' }), {
      settings: { ...noSettings, vapid_key: senderKey },
    })
    expect(await send(none)).toEqual({
      state: 'dead',
      reason: expect.stringContaining('no browser'),
    })
    const service = await startTrusted()
    const restricted = createPushSender(createEgress('webhook', readEnvironment({})), undefined)
    expect(await restricted(createPush(service))).toEqual({
      state: 'dead',
      reason: expect.stringContaining('loopback'),
    })
    expect(service.messages).toEqual([])
  })

  it('is an error for a service that refuses, is not trusted, redirects, closes early or does not answer', async () => {
    const refusing = {
      subscription: {
        ...(await startPushService()).subscription,
        endpoint: 'https://127.0.0.1:9/',
      },
    }
    await expect(send(createPush(refusing))).rejects.toThrow('ECONNREFUSED')
    await expect(send(createPush(await startPushService()))).rejects.toThrow(
      'self-signed certificate',
    )
    await expect(answered(302, { Location: 'http://127.0.0.1:9/' })).rejects.toThrow('redirects')
    const closing = await startTrusted(response => {
      response.writeHead(201, { 'Content-Length': '100' })
      response.write('o')
      response.socket!.end()
    })
    await expect(send(createPush(closing))).rejects.toThrow()
    const timeout = new AbortController()
    const silent = await startTrusted(() => timeout.abort(new Error('enough')))
    await expect(send(createPush(silent, {}, { signal: timeout.signal }))).rejects.toThrow('enough')
  })
})
