import { createEgress, readEnvironment } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { smsEgress } from '../../../test/fixtures/network/local-egress.ts'
import {
  createAttempt,
  createClaimedDelivery,
  noSettings,
} from '../../../test/fixtures/scheduler/claimed-delivery.ts'
import { SMS_ACCOUNT, startSmsReceiver } from '../../../test/fixtures/scheduler/sms-receiver.ts'
import type { Attempt } from './sender.ts'
import { createSmsSender } from './sms-sender.ts'

const send = createSmsSender(smsEgress, 2)

interface SmsOptions {
  to?: string
  message?: string
  settings?: object
}

/** An attempt to send an SMS by the provider at `url`. */
function createSms(
  url: string,
  { to = '+41790000000', message, settings }: SmsOptions = {},
  more: Partial<Attempt> = {},
) {
  const delivery = createClaimedDelivery({ action_to: to }, { type: 'sms' })
  const request = { ...delivery.request, ...(message !== undefined && { message }) }
  const sms = {
    sms_provider: url,
    ...SMS_ACCOUNT,
    sms_from: '+41780000000',
    sms_to: '',
    ...settings,
  }
  return createAttempt({ ...delivery, request }, { settings: { ...noSettings, sms }, ...more })
}

describe('an SMS', () => {
  it('is accepted by the provider, with the id of the delivery', async () => {
    const provider = await startSmsReceiver()
    const attempt = createSms(provider.url)
    expect(await send(attempt)).toEqual({
      state: 'sent',
      reason: expect.stringMatching(/^SM[\da-f]{32}, 1 × GSM-7$/),
    })
    expect(provider.messages).toEqual([
      {
        to: '+41790000000',
        from: '+41780000000',
        service: null,
        body: 'total is 2 & more',
        key: attempt.delivery.delivery_id,
      },
    ])
    expect(provider.calls[0]!.headers['content-type']).toBe('application/x-www-form-urlencoded')
  })

  it('is shortened to the configured number of messages', async () => {
    const provider = await startSmsReceiver()
    expect(await send(createSms(provider.url, { message: 'слово '.repeat(100) }))).toMatchObject({
      reason: expect.stringContaining('2 × UCS-2'),
    })
    expect(provider.messages[0]!.body).toMatch(/слово…$/)
  })

  it('is sent by a messaging service, which chooses the number, if the settings name one', async () => {
    const provider = await startSmsReceiver()
    await send(createSms(provider.url, { settings: { sms_from: 'MG123' } }))
    expect(provider.messages).toMatchObject([{ from: null, service: 'MG123' }])
  })

  it('reaches a provider below a path', async () => {
    const provider = await startSmsReceiver()
    expect(await send(createSms(`${provider.url}/gateway/`))).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('/gateway/2010-04-01/Accounts/'),
    })
  })

  it('goes to the receiver of the settings if the action names none', async () => {
    const provider = await startSmsReceiver()
    await send(createSms(provider.url, { to: '', settings: { sms_to: '+41770000000' } }))
    expect(provider.messages).toMatchObject([{ to: '+41770000000' }])
  })
})

describe('the outcome of an SMS', () => {
  const answered = async (status: number, body: string, headers = {}) => {
    const { url } = await startSmsReceiver(response =>
      response.writeHead(status, headers).end(body),
    )
    return send(createSms(url))
  }

  it('is final with the code and words of the provider if it refuses the receiver', async () => {
    const provider = await startSmsReceiver()
    expect(await send(createSms(provider.url, { to: '12' }))).toEqual({
      state: 'dead',
      reason: "400 21211: Invalid 'To' Phone Number: 12",
    })
  })

  it('is a failure of all SMS if the provider refuses the account', async () => {
    const { url } = await startSmsReceiver()
    expect(await send(createSms(url, { settings: { sms_auth_token: 'wrong' } }))).toEqual({
      state: 'failed',
      reason: '401 20003: Authenticate',
      isTargetDown: true,
    })
  })

  it.each([
    [
      500,
      '{"code": 20500, "message": "Internal Server Error", "status": 500}',
      '500 20500: Internal Server Error',
    ],
    [
      429,
      '{"code": 20429, "message": "Too Many Requests", "status": 429}',
      '429 20429: Too Many Requests',
    ],
    [502, '<html>Bad Gateway</html>', '502 <html>Bad Gateway</html>'],
  ])(
    'is a failure after status %d, with the pause that the provider asks for',
    async (status, body, reason) => {
      expect(await answered(status, body, { 'Retry-After': '7' })).toEqual({
        state: 'failed',
        reason,
        isTargetDown: true,
        retryAfterMs: 7000,
      })
    },
  )

  it.each(['', 'ok', '[]', '{}'])(
    'is a failure if the provider confirms with %j, which names no message',
    async body => {
      expect(await answered(201, body)).toMatchObject({ state: 'failed', isTargetDown: true })
    },
  )

  it('is an error for a provider that refuses connections, redirects, closes early or does not answer', async () => {
    await expect(send(createSms('http://127.0.0.1:9'))).rejects.toThrow('ECONNREFUSED')
    await expect(answered(302, '', { Location: 'http://127.0.0.1:9/' })).rejects.toThrow(
      'redirects',
    )
    const closing = await startSmsReceiver(response => {
      response.writeHead(201, { 'Content-Length': '100' })
      response.write('{"sid"')
      response.socket!.end()
    })
    await expect(send(createSms(closing.url))).rejects.toThrow()
    const timeout = new AbortController()
    const silent = await startSmsReceiver(() => timeout.abort(new Error('enough')))
    await expect(send(createSms(silent.url, {}, { signal: timeout.signal }))).rejects.toThrow(
      'enough',
    )
  })

  it('is final for a provider at an address that the rules deny', async () => {
    expect(await send(createSms('http://169.254.169.254'))).toEqual({
      state: 'dead',
      reason: expect.stringContaining('metadata'),
    })
    const own = createSmsSender(
      createEgress('sms', readEnvironment({ EYRIE_ENGINE_PORT: '8000' })),
      2,
    )
    expect(await own(createSms('http://127.0.0.1:8000'))).toMatchObject({ state: 'dead' })
  })

  it.each([
    [{ sms_auth_key: '' }, 'sms_auth_key'],
    [{ sms_auth_token: '' }, 'sms_auth_token'],
    [{ sms_auth_key: 'SK1' }, 'begins with AC'],
    [{ sms_from: '' }, 'sms_from'],
    [{ sms_provider: 'other' }, 'sms_provider'],
    [{ sms_provider: 'ftp://h' }, 'sms_provider'],
  ])('says what is missing in the settings %j', async (settings, reason) => {
    const attempt = createSms('http://127.0.0.1:9', { settings })
    expect(await send(attempt)).toEqual({
      state: 'failed',
      reason: expect.stringContaining(reason),
      isTargetDown: true,
    })
  })

  it('is final without a receiver', async () => {
    expect(await send(createSms('http://127.0.0.1:9', { to: '' }))).toMatchObject({ state: 'dead' })
  })
})
