// @module-tag long

import { managementRoutes } from '@eyrie/contract/management/index'
import { createErrorHandler, createLog, listen } from '@eyrie/kit'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createTicketViewRoutes } from '../../services/management/http/live/ticket-view-routes.ts'
import { createOffer, videoSection } from '../fixtures/browser/whep-offer.ts'
import { startFleet, startManagedEngine } from '../fixtures/management/fleet.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { localEngineEgress } from '../fixtures/network/local-egress.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { webrtcWorker, webrtcWorkerRequirement } from '../fixtures/requirements/webrtc-worker.ts'

const LONG_MS = 480_000
const INTERNAL = 'internal'

describe('a channel that was created through the API only', () => {
  it(
    'plays over HTTP and WebSocket for viewers with a ticket',
    async () => {
      const { media, ticket, device, toLocalUrl } = await startChannelView()

      const played = await fetch(toLocalUrl(ticket.fmp4))
      expect([played.status, played.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^video\/mp4/),
      ])
      const reader = played.body!.getReader()
      const { value: chunk } = await reader.read()
      expect(Buffer.from(chunk!).toString('latin1', 4, 8)).toBe('ftyp')
      await reader.cancel()

      const socket = new WebSocket(toLocalUrl(ticket.ws, 'ws:'))
      onTestFinished(() => socket.terminate())
      const messages: Buffer[] = []
      socket.on('message', (data: Buffer) => messages.push(data))
      await vi.waitUntil(() => messages.length > 2)
      expect(JSON.parse(String(messages[0]))).toMatchObject({
        codecs: expect.stringContaining('avc1'),
      })

      const resource = await fetch(toLocalUrl(ticket.whep), { method: 'OPTIONS' })
      expect(resource.headers.get('accept-post')).toContain('application/sdp')

      const forged = toLocalUrl(ticket.fmp4)
      forged.searchParams.set('ticket', `${ticket.ticket}x`)
      expect((await fetch(forged)).status).toBe(401)
      const direct = new URL(`${media.url}/streams/${device.device_source[0]?.source_sid}`)
      expect((await fetch(direct)).status).toBe(401)
      direct.searchParams.set('ticket', ticket.ticket)
      const withTicket = await fetch(direct)
      expect(withTicket.status).toBe(200)
      await withTicket.body?.cancel()
    },
    LONG_MS,
  )

  it('plays over WebRTC until the viewer ends the session', {
    ...needs(webrtcWorkerRequirement),
    timeout: LONG_MS,
  }, async () => {
    const { ticket, toLocalUrl } = await startChannelView()
    const headers = { 'content-type': 'application/sdp' }
    const body = createOffer(videoSection)
    const answer = await fetch(toLocalUrl(ticket.whep), { method: 'POST', headers, body })
    expect([answer.status, await answer.text()]).toEqual([
      201,
      expect.stringContaining('a=candidate:'),
    ])
    const session = new URL(answer.headers.get('location')!, toLocalUrl(ticket.whep))
    expect((await fetch(session, { method: 'DELETE' })).status).toBe(200)
    expect((await fetch(session, { method: 'DELETE' })).status).toBe(404)
  })
})

/**
 * Starts the services, creates a channel through the API and requests a ticket for its live view.
 */
async function startChannelView() {
  const media = await startMediaProcess({
    EYRIE_INTERNAL_TOKEN: INTERNAL,
    ...(webrtcWorker && { MEDIASOUP_WORKER_BIN: webrtcWorker }),
  })
  onTestFinished(() => media.stop())
  const fleet = await startFleet()
  const { port } = await startManagedEngine({
    media,
    variables: { EYRIE_INTERNAL_TOKEN: INTERNAL, EYRIE_ENGINE_TOKENS: 'token' },
  })
  const views = new Hono().route(
    '/media',
    createTicketViewRoutes({
      findView: fleet.findView,
      database: () => fleet.database,
      users: () => fleet.users,
      egress: localEngineEgress,
    }),
  )
  views.onError(createErrorHandler(createLog('management', 'silent')))
  const server = await listen({ app: views, health: () => ({ ok: true }) }, '127.0.0.1', 0)
  onTestFinished(() => server.close())

  const engineId = await fleet.registerEngine({ engine_port: port, engine_key: 'token' })
  const { device_id, source_id: sourceId } = await fleet.addSource(engineId, {
    address: SMALL_PICTURE,
    fps: { output: 5 },
  })
  const pipelineId = await fleet.addPipeline(engineId, [{ name: 'motion' }])
  const channelId = await fleet.addChannel(sourceId, pipelineId)

  await vi.waitFor(
    async () => expect(await fleet.getChannel(channelId)).toMatchObject({ is_active: true }),
    {
      timeout: LONG_MS / 2,
    },
  )
  const { response: device } = await fleet.call(managementRoutes.device.get, { device_id })
  expect(device).toMatchObject({
    device_status: 'online',
    source_channels: [{ channel_id: channelId, is_active: true }],
  })

  const { status, response: ticket } = await fleet.call(managementRoutes.media.ticket, {
    channel_id: channelId,
  })
  expect(status).toBe(200)
  expect(ticket.expires_in).toBeGreaterThan(0)

  /** Points an address of the ticket at the server under test. */
  function toLocalUrl(address: string, protocol = 'http:'): URL {
    const url = new URL(address)
    url.host = `127.0.0.1:${server.port}`
    url.protocol = protocol
    return url
  }

  return { media, device, ticket, toLocalUrl }
}
