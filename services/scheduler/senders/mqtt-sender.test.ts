import type { Socket } from 'node:net'
import { createEgress, readEnvironment } from '@eyrie/kit'
import { describe, expect, it, vi } from 'vitest'
import { localWebhookEgress } from '../../../test/fixtures/network/local-egress.ts'
import { mosquittoRequirement } from '../../../test/fixtures/network/mosquitto.ts'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { trustCertificate } from '../../../test/fixtures/network/trust-certificate.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import {
  createAttempt,
  createClaimedDelivery,
} from '../../../test/fixtures/scheduler/claimed-delivery.ts'
import { startMqttBroker } from '../../../test/fixtures/scheduler/mqtt-broker.ts'
import { createMqttSender } from './mqtt-sender.ts'
import type { Attempt } from './sender.ts'

const send = createMqttSender(localWebhookEgress, 'https://eyrie.example.com')

const createMessage = (actionUrl: string, action: object = {}, more: Partial<Attempt> = {}) =>
  createAttempt(createClaimedDelivery({ action_url: actionUrl, ...action }, { type: 'mqtt' }), more)

const account = { action_access_id: 'box', action_access_token: 'right' }

/**
 * Starts a server that handles a connection in a way of its own. Returns the address of a topic.
 */
async function startBadBroker(handle: (socket: Socket) => void): Promise<string> {
  const { port } = await startTcpServer(handle)
  return `mqtt://127.0.0.1:${port}/a`
}

const CONNACK = { v5: Buffer.from('200300' + '0000', 'hex'), v4: Buffer.from('20020000', 'hex') }

describe('an MQTT message to mosquitto', needs(mosquittoRequirement), () => {
  it('is the standard payload with the id of the delivery, and is confirmed by the broker', async () => {
    const broker = await startMqttBroker()
    const attempt = createMessage(`mqtt://127.0.0.1:${broker.port}/site/door`)
    expect(await send(attempt)).toEqual({ state: 'sent', reason: 'confirmed by the broker' })
    await vi.waitUntil(() => broker.messages.length > 0)
    const [{ topic, payload, packet } = expect.fail('no message')] = broker.messages
    const { delivery_id: deliveryId } = attempt.delivery
    expect(topic).toBe('site/door')
    expect(JSON.parse(payload)).toMatchObject({ specversion: '1.0', id: deliveryId })
    expect(packet).toMatchObject({
      qos: 1,
      retain: false,
      properties: {
        contentType: 'application/cloudevents+json',
        userProperties: { id: deliveryId },
      },
    })
  })

  it('is the payload of the action', async () => {
    const broker = await startMqttBroker()
    await send(createMessage(`mqtt://127.0.0.1:${broker.port}/light`, { action_payload: 'on' }))
    await vi.waitUntil(() => broker.messages.length > 0)
    expect(broker.messages).toMatchObject([{ topic: 'light', payload: 'on' }])
  })

  it('uses TLS, user and password', async () => {
    const broker = await startMqttBroker()
    trustCertificate(broker.certificate)
    const outcome = await send(
      createMessage(`mqtts://127.0.0.1:${broker.tlsPort}/site/door`, account),
    )
    // The subscriber is connected to the other port, and reads everything.
    expect(outcome).toEqual({ state: 'sent', reason: 'confirmed by the broker' })
    await vi.waitUntil(() => broker.messages.length > 0)
  })

  it('is not sent to a broker with an untrusted certificate', async () => {
    const broker = await startMqttBroker()
    const attempt = createMessage(`mqtts://127.0.0.1:${broker.tlsPort}/site/door`, account)
    await expect(send(attempt)).rejects.toThrow('self-signed certificate')
    expect(broker.messages).toEqual([])
  })

  it.each([
    [
      'a wrong password',
      'site/door',
      { ...account, action_access_token: 'wrong' },
      /not authorized|password/i,
    ],
    ['a topic without permission', 'other', account, /not authorized/i],
  ])('fails without pausing the broker for %s', async (_, topic, action, reason) => {
    const broker = await startMqttBroker()
    trustCertificate(broker.certificate)
    expect(
      await send(createMessage(`mqtts://127.0.0.1:${broker.tlsPort}/${topic}`, action)),
    ).toEqual({
      state: 'failed',
      reason: expect.stringMatching(reason),
      isTargetDown: false,
    })
  })
})

describe('the outcome of an MQTT message', () => {
  it('is sent with MQTT 3.1.1 to a broker that does not know MQTT 5', async () => {
    const versions: number[] = []
    const url = await startBadBroker(socket => {
      socket.on('data', packet => {
        const type = packet[0]! >> 4
        if (type === 1) {
          const version = packet[8]!
          versions.push(version)
          socket.write(version === 5 ? Buffer.from('20020001', 'hex') : CONNACK.v4)
          if (version === 5) socket.end()
        }
        // A topic of one character: its length, then the identifier.
        if (type === 3) {
          socket.write(
            Buffer.concat([
              Buffer.from('4002', 'hex'),
              packet.subarray(-2 - payloadBytes).subarray(0, 2),
            ]),
          )
        }
      })
    })
    const payload = 'on'
    const payloadBytes = payload.length
    expect(await send(createMessage(url, { action_payload: payload }))).toMatchObject({
      state: 'sent',
    })
    expect(versions).toEqual([5, 4])
  })

  it('is an error for a broker that refuses connections, closes early or does not answer', async () => {
    await expect(send(createMessage('mqtt://127.0.0.1:9/a'))).rejects.toThrow('ECONNREFUSED')
    const closing = await startBadBroker(socket => socket.end())
    await expect(send(createMessage(closing))).rejects.toThrow('closed the connection')
    const unconfirmed = await startBadBroker(socket => {
      socket.on('data', packet => {
        if (packet[0]! >> 4 === 1) socket.write(CONNACK.v5)
        else socket.end()
      })
    })
    await expect(send(createMessage(unconfirmed))).rejects.toThrow('closed the connection')
    const timeout = new AbortController()
    const silent = await startBadBroker(() => timeout.abort(new Error('enough')))
    await expect(send(createMessage(silent, {}, { signal: timeout.signal }))).rejects.toThrow(
      /enough|aborted/,
    )
    const late = new AbortController()
    const stuck = await startBadBroker(socket => {
      socket.on('data', packet => {
        if (packet[0]! >> 4 === 1) socket.write(CONNACK.v5)
        else late.abort(new Error('too late'))
      })
    })
    await expect(send(createMessage(stuck, {}, { signal: late.signal }))).rejects.toThrow(
      'too late',
    )
  })

  it('is a failure of the whole broker if it is overloaded', async () => {
    const busy = await startBadBroker(socket =>
      socket.once('data', () => socket.end(Buffer.from('2003008900', 'hex'))),
    )
    expect(await send(createMessage(busy))).toEqual({
      state: 'failed',
      reason: expect.stringContaining('137'),
      isTargetDown: true,
    })
  })

  it('is an error for a server that speaks another protocol', async () => {
    const web = await startBadBroker(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await expect(send(createMessage(web))).rejects.toThrow()
  })

  it('is final for an address that is denied or names no topic', async () => {
    const restricted = createMqttSender(createEgress('webhook', readEnvironment({})), undefined)
    expect(await restricted(createMessage('mqtt://127.0.0.1/a'))).toMatchObject({
      state: 'dead',
      reason: expect.stringContaining('EYRIE_EGRESS_ALLOW'),
    })
    expect(await send(createMessage('mqtt://127.0.0.1'))).toMatchObject({
      state: 'dead',
      reason: expect.stringContaining('topic'),
    })
  })
})
