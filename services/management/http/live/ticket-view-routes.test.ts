import { join } from 'node:path'
import { mediaHealth } from '@eyrie/contract'
import { createErrorHandler, createLog, listen } from '@eyrie/kit'
import { signTicket } from '@eyrie/kit/stream-ticket'
import { Hono } from 'hono'
import { v7 } from 'uuid'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createOffer, videoSection } from '../../../../test/fixtures/browser/whep-offer.ts'
import { createDesiredSource } from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { localEngineEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { needs } from '../../../../test/fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../../../../test/fixtures/requirements/webrtc-worker.ts'
import { createTicketViewRoutes } from './ticket-view-routes.ts'

const INTERNAL = 'internal'
const STREAM = 1
const channel = v7()
const inAnHour = () => Date.now() + 3_600_000
const ticketOf = (stream: number, expires = inAnHour()) =>
  signTicket(INTERNAL, { stream: String(stream), expires })

/** Creates ticket view routes to a media service that shows the stream of one channel. */
async function serveChannel() {
  const media = await serveMedia({ token: INTERNAL })
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, { frames: 60 })
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: STREAM, type: 'inf', url: path }))
  await control.waitForStatus(STREAM, ({ state }) => state === 'running')
  const app = new Hono().route(
    '/media',
    createTicketViewRoutes(async () => ({ url: media.url, stream: STREAM }), localEngineEgress),
  )
  app.onError(createErrorHandler(createLog('management', 'silent')))
  const { port, close } = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0)
  onTestFinished(close)
  const origin = `http://127.0.0.1:${port}`
  return {
    ask: (method: string, address: string, body?: string) =>
      fetch(new URL(address, origin), {
        method,
        body,
        headers: { 'content-type': 'application/sdp' },
      }),
    viewers: async () =>
      mediaHealth.parse(await (await fetch(`${media.url}/health`)).json()).webrtc.viewers,
  }
}

const whep = (ticket?: string, id = channel) =>
  `/media/${id}/whep${ticket ? `?ticket=${ticket}` : ''}`
const offer = createOffer(videoSection)

describe('WHEP through the management service', needs(webrtcWorkerRequirement), () => {
  test('forwards an offer to the media of the channel, and ends the session at its Location', async () => {
    const { ask, viewers } = await serveChannel()
    const ticket = ticketOf(STREAM)
    const response = await ask('POST', whep(ticket), offer)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      201,
      'application/sdp',
    ])
    expect(await response.text()).toMatch(
      /m=video 9 UDP\/TLS\/RTP\/SAVPF 109\r\n(.*\r\n)+a=candidate:/,
    )
    expect(response.headers.get('etag')).toBeTruthy()
    const location = response.headers.get('location')!
    expect(location).toMatch(new RegExp(`^/media/${channel}/whep/[0-9a-f-]{36}\\?ticket=`))
    expect(await viewers()).toBe(1)

    const elsewhere = location.replace(/whep\/.*\?/, `whep/${v7()}?`)
    expect((await ask('DELETE', elsewhere)).status).toBe(404)
    expect((await ask('DELETE', location.replace(/\?.*/, ''))).status).toBe(401)
    expect(await viewers()).toBe(1)
    expect((await ask('DELETE', location)).status).toBe(200)
    expect(await viewers()).toBe(0)
    expect((await ask('DELETE', location)).status).toBe(404)
  })

  test.each<[string, number, string, string?]>([
    ['without a ticket', 401, whep()],
    ['with the ticket of another stream', 401, whep(ticketOf(2))],
    ['with an expired ticket', 401, whep(ticketOf(STREAM, 1))],
    ['for an unknown channel', 404, whep(ticketOf(STREAM), 'door')],
    ['without SDP', 400, whep(ticketOf(STREAM)), 'hello'],
    ['without end', 413, whep(ticketOf(STREAM)), offer + 'a=x\r\n'.repeat(20_000)],
  ])('rejects an offer %s with %i', async (_, status, address, body = offer) => {
    const { ask, viewers } = await serveChannel()
    const response = await ask('POST', address, body)
    expect([response.status, await response.json()]).toEqual([
      status,
      { code: expect.any(String), reason: expect.stringMatching(/.{10}/) },
    ])
    expect(await viewers()).toBe(0)
  })
})
