import { createHmac, randomBytes } from 'node:crypto'
import type { AlertAction } from '@eyrie/contract/management/alert'
import { createEgress, readEnvironment } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { firingDetails } from '../../../test/fixtures/management/alert-records.ts'
import { localWebhookEgress } from '../../../test/fixtures/network/local-egress.ts'
import {
  createAttempt,
  createClaimedDelivery,
} from '../../../test/fixtures/scheduler/claimed-delivery.ts'
import { startWebhookReceiver } from '../../../test/fixtures/scheduler/webhook-receiver.ts'
import { createWebhookSender } from './webhook-sender.ts'

const send = createWebhookSender(localWebhookEgress, 'https://eyrie.example.com/')

/** Calls a receiver by an action. Returns the outcome, and what the receiver got. */
async function callReceiver(
  action: AlertAction,
  more: Parameters<typeof createClaimedDelivery>[1] = {},
) {
  const receiver = await startWebhookReceiver()
  const delivery = createClaimedDelivery({ action_url: receiver.url, ...action }, more)
  const picture = Buffer.from('jpeg')
  const outcome = await send(createAttempt(delivery, { readPicture: async () => picture }))
  return { delivery, outcome, call: receiver.calls[0]! }
}

describe('a webhook', () => {
  it('sends the standard payload, a CloudEvent whose id is the same for all attempts', async () => {
    const picture = 'a'.repeat(64)
    const { delivery, outcome, call } = await callReceiver(
      { action_external_link: 'https://wiki.example/door' },
      { picture },
    )
    expect(outcome).toEqual({ state: 'delivered', reason: '200 ok' })
    expect(call).toMatchObject({
      method: 'POST',
      url: '/hook',
      headers: {
        'content-type': 'application/cloudevents+json',
        'webhook-id': delivery.delivery_id,
        'idempotency-key': delivery.delivery_id,
      },
    })
    const { channel_id: channelId, notification_uuid: notificationUuid } = delivery
    expect(JSON.parse(call.body)).toEqual({
      specversion: '1.0',
      id: delivery.delivery_id,
      source: `https://eyrie.example.com/channels/${channelId}`,
      type: 'eyrie.notification',
      time: firingDetails.time,
      subject: 'alert',
      datacontenttype: 'application/json',
      data: {
        ...firingDetails,
        channel_id: channelId,
        notification_uuid: notificationUuid,
        subject: 'Crowd <b>',
        message: 'total is 2 & more',
        link: 'https://wiki.example/door',
        image_url: `https://eyrie.example.com/api/v1/notification/image?channel_id=${channelId}&notification_uuid=${notificationUuid}`,
      },
    })
  })

  it('contains the picture itself if the action says so, and no picture if it says that', async () => {
    const inline = await callReceiver({ action_picture: 'inline' })
    expect(JSON.parse(inline.call.body).data.image).toBe(Buffer.from('jpeg').toString('base64'))
    const without = await callReceiver({ action_picture: 'none' }, { picture: 'a'.repeat(64) })
    expect(JSON.parse(without.call.body).data).not.toHaveProperty('image_url')
  })

  it('sends method, headers, query and payload of the action', async () => {
    const { call } = await callReceiver({
      action_method: 'put',
      action_header: 'X-Place: door\nContent-Type: text/csv\n',
      action_query: 'a=1&b=x%20y',
      action_payload: 'a,b',
    })
    expect(call).toMatchObject({
      method: 'PUT',
      url: '/hook?a=1&b=x+y',
      headers: { 'x-place': 'door', 'content-type': 'text/csv' },
      body: 'a,b',
    })
  })

  it('sends the standard payload instead of its own if the action says so', async () => {
    const { call } = await callReceiver({
      action_payload: '{"own":1}',
      action_is_auto_payload: true,
    })
    expect(JSON.parse(call.body)).toMatchObject({ specversion: '1.0' })
  })

  it.each([
    [{ action_auth_header: 'Key abc' }, { authorization: 'Key abc' }],
    [{ action_auth_header: 'X-Key: abc' }, { 'x-key': 'abc' }],
    [{ action_auth_header: 'X-Key: abc\nX-Site: a' }, { 'x-key': 'abc', 'x-site': 'a' }],
    [{ action_auth_header: 'Digest uri="http://a"' }, { authorization: 'Digest uri="http://a"' }],
    [{ action_access_id: 'ada', action_access_token: 'pw' }, { authorization: 'Basic YWRhOnB3' }],
    [{ action_access_token: 'abc' }, { authorization: 'Bearer abc' }],
  ])('authenticates by %j', async (action, headers) => {
    expect((await callReceiver(action)).call.headers).toMatchObject(headers)
  })

  it('is signed with a secret, which is not sent (Standard Webhooks)', async () => {
    const key = randomBytes(24)
    const secret = `whsec_${key.toString('base64')}`
    const { call } = await callReceiver({ action_access_token: secret })
    const {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    } = call.headers
    const expected = createHmac('sha256', key)
      .update(`${id}.${timestamp}.${call.body}`)
      .digest('base64')
    expect(signature).toBe(`v1,${expected}`)
    expect(Math.abs(Number(timestamp) * 1000 - Date.now())).toBeLessThan(60_000)
    expect(JSON.stringify(call)).not.toContain(secret)
  })

  it('cannot replace the headers by which the receiver recognizes it', async () => {
    const { delivery, call } = await callReceiver({ action_header: 'Webhook-Id: other' })
    expect(call.headers['webhook-id']).toBe(delivery.delivery_id)
  })
})

describe('the outcome of a webhook', () => {
  const answered = async (
    answer: Parameters<typeof startWebhookReceiver>[0],
    signal?: AbortSignal,
  ) => {
    const { url } = await startWebhookReceiver(answer)
    return send(createAttempt(createClaimedDelivery({ action_url: url }), signal && { signal }))
  }

  it.each([
    [500, { state: 'failed', isTargetDown: true }],
    [429, { state: 'failed', isTargetDown: true }],
    [404, { state: 'failed', isTargetDown: false }],
    [401, { state: 'failed', isTargetDown: false }],
    [410, { state: 'dead' }],
    [204, { state: 'delivered' }],
  ])('after status %d quotes the answer', async (status, expected) => {
    const outcome = await answered(response =>
      response.writeHead(status).end(status === 204 ? '' : 'no\n way'),
    )
    expect(outcome).toMatchObject({
      ...expected,
      reason: status === 204 ? '204' : `${status} no way`,
    })
  })

  it('has the pause that the receiver asks for, up to an hour', async () => {
    const ask = (pause: string) =>
      answered(response => response.writeHead(503, { 'Retry-After': pause }).end())
    expect(await ask('7')).toMatchObject({ retryAfterMs: 7000 })
    expect(await ask('999999')).toMatchObject({ retryAfterMs: 3_600_000 })
    expect(await ask('soon')).not.toHaveProperty('retryAfterMs')
  })

  it('is an error for a receiver that confirms and closes before the end of its answer', async () => {
    const closes = answered(response => {
      response.writeHead(200, { 'Content-Length': '100' })
      response.write('o')
      response.socket!.end()
    })
    await expect(closes).rejects.toThrow()
  })

  it('quotes only the beginning of an endless answer', async () => {
    const outcome = await answered(response => {
      const write = () => {
        while (response.write('x'.repeat(1000))) if (response.destroyed) return
        response.once('drain', write)
      }
      write()
    })
    expect(outcome).toMatchObject({ state: 'delivered' })
    expect(outcome.reason.length).toBe(300)
  })

  it('is an error for a receiver that refuses connections, redirects or does not answer in time', async () => {
    const refused = createAttempt(createClaimedDelivery({ action_url: 'http://127.0.0.1:9/' }))
    await expect(send(refused)).rejects.toThrow('ECONNREFUSED')
    const redirects = answered(response =>
      response.writeHead(302, { Location: 'http://127.0.0.1:9/' }).end(),
    )
    await expect(redirects).rejects.toThrow('redirects to another address')
    const silent = new AbortController()
    const unanswered = answered(() => silent.abort(new Error('enough')), silent.signal)
    await expect(unanswered).rejects.toThrow('enough')
  })

  it('is final for an address that the rules for outgoing connections deny', async () => {
    const receiver = await startWebhookReceiver()
    const restricted = createWebhookSender(createEgress('webhook', readEnvironment({})), undefined)
    const denied = await restricted(
      createAttempt(createClaimedDelivery({ action_url: receiver.url })),
    )
    expect(denied).toEqual({ state: 'dead', reason: expect.stringContaining('EYRIE_EGRESS_ALLOW') })
    const inside = createAttempt(createClaimedDelivery({ action_url: 'http://192.168.1.1/' }))
    expect(await restricted(inside)).toMatchObject({
      state: 'dead',
      reason: expect.stringContaining('private'),
    })
    expect(receiver.calls).toEqual([])
  })

  it.each([
    [{ action_url: '' }, 'action_url'],
    [{ action_url: 'ftp://example.com' }, 'action_url'],
    [{ action_url: 'http://127.0.0.1:9', action_method: 'TRACE' }, 'action_method'],
    [{ action_url: 'http://127.0.0.1:9', action_header: 'no header' }, 'action_header'],
    [{ action_url: 'http://127.0.0.1:9', action_header: 'Host: other' }, 'must not set host'],
    [{ action_url: 'http://127.0.0.1:9', action_auth_header: 'Key Łódź' }, 'action_auth_header'],
    [{ action_url: 'http://127.0.0.1:9', action_auth_header: 'X-A: 1\nkey' }, 'action_auth_header'],
  ])('is final for the action %j, which names the field to correct', async (action, reason) => {
    expect(await send(createAttempt(createClaimedDelivery(action)))).toEqual({
      state: 'dead',
      reason: expect.stringContaining(reason),
    })
  })
})
