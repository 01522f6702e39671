// @module-tag long

import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { mediaHealth } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import {
  audioSection as audio,
  createOffer,
  videoSection as video,
} from '../../../test/fixtures/browser/whep-offer.ts'
import { createAdjustableClock } from '../../../test/fixtures/manual-clock.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../../../test/fixtures/requirements/webrtc-worker.ts'

const offer = createOffer(audio, video)

async function serveStream(options?: Parameters<typeof serveMedia>[0]) {
  const media = await serveMedia(options)
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, { frames: 60 })
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
  return media
}

const getWebRtcHealth = async (media: ServedMedia) =>
  mediaHealth.parse(await (await fetch(`${media.url}/health`)).json()).webrtc

interface WhepRequest {
  method?: string
  path?: string
  type?: string
  body?: string
  headers?: Record<string, string>
}

function send(
  media: ServedMedia,
  { method = 'POST', path = '/streams/1/whep', type, body, headers }: WhepRequest,
) {
  return fetch(media.url + path, {
    method,
    headers: { ...headers, 'content-type': type ?? 'application/sdp' },
    body: body ?? (method === 'POST' ? offer : undefined),
  })
}

const patch = (media: ServedMedia, path: string, ufrag: string, headers?: Record<string, string>) =>
  send(media, {
    method: 'PATCH',
    path,
    type: 'application/trickle-ice-sdpfrag',
    body: `a=ice-ufrag:${ufrag}\r\na=ice-pwd:0123456789012345678901\r\n`,
    headers,
  })

describe('WHEP', needs(webrtcWorkerRequirement), () => {
  it('answers an offer with video and declines other sections', async () => {
    const media = await serveStream()
    const answer = await send(media, {})
    expect(answer.status).toBe(201)
    expect(answer.headers.get('content-type')).toBe('application/sdp')
    expect(answer.headers.get('location')).toMatch(/^\/streams\/1\/whep\/[0-9a-f-]{36}$/)
    const sdp = await answer.text()
    expect(sdp).toMatch(
      /m=audio 0 .*\r\na=mid:0\r\na=inactive\r\nm=video 9 UDP\/TLS\/RTP\/SAVPF 109\r\n/,
    )
    expect(sdp).toMatch(/a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 \d+ typ host\r\n/)
    expect(sdp).toMatch(/a=candidate:\S+ 1 tcp \d+ 127\.0\.0\.1 \d+ typ host tcptype passive\r\n/)
  })

  it('uses the addresses, ports and ICE servers from the settings', async () => {
    const iceServers = [
      { urls: ['stun:stun.example:3478'] },
      { urls: ['turn:turn.example:3478?transport=udp'], username: 'viewer', credential: 'p"w' },
    ]
    const announced = ['203.0.113.7', 'box.example']
    const media = await serveStream({
      settings: { media: { webrtc: { ice_servers: iceServers, announced } } },
    })
    const links =
      '<stun:stun.example:3478>; rel="ice-server", <turn:turn.example:3478?transport=udp>; rel="ice-server"; username="viewer"; credential="p\\"w"; credential-type="password"'
    const options = await send(media, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('accept-post')]).toEqual([204, 'application/sdp'])
    expect(options.headers.get('link')).toBe(links)

    const answer = await send(media, {})
    expect(answer.headers.get('link')).toBe(links)
    const candidates = (await answer.text()).match(/a=candidate:.*/g)!.map(line => line.split(' '))
    expect(candidates.map(([, , protocol, , address]) => `${protocol} ${address}`)).toEqual(
      ['udp', 'tcp'].flatMap(protocol => announced.map(address => `${protocol} ${address}`)),
    )
    for (const candidate of candidates) {
      expect(Number(candidate[5])).toBeGreaterThanOrEqual(40_000)
      expect(Number(candidate[5])).toBeLessThanOrEqual(49_999)
    }
  })

  it.each<[string, number, WhepRequest]>([
    ['an offer with another content type', 415, { type: 'text/plain' }],
    ['a body that is not SDP', 400, { body: 'hello' }],
    ['an offer without video', 400, { body: createOffer(audio) }],
    [
      'an offer to send',
      400,
      { body: createOffer(video.map(line => line.replace('recvonly', 'sendonly'))) },
    ],
    ['an offer without a fingerprint', 400, { body: offer.replace(/a=fingerprint.*\r\n/, '') }],
    ['an invalid fingerprint', 400, { body: offer.replace(/AB:/g, 'XY:') }],
    ['an unknown hash function', 400, { body: offer.replace('sha-256', 'crc-32') }],
    ['an offer without H.264', 406, { body: createOffer(video.slice(0, 4)) }],
    ['an oversized offer', 413, { body: offer + 'a=x\r\n'.repeat(20_000) }],
    ['an unknown stream', 404, { path: '/streams/2/whep' }],
    ['the deletion of an unknown session', 404, { method: 'DELETE', path: '/streams/1/whep/x' }],
  ])('rejects %s with %i', async (_, status, whepRequest) => {
    const media = await serveStream()
    const answer = await send(media, whepRequest)
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status,
      body: { code: expect.any(String), reason: expect.stringMatching(/.{10}/) },
    })
    expect((await getWebRtcHealth(media)).viewers).toBe(0)
  })

  it('requires the current ETag for a PATCH', async () => {
    const media = await serveStream()
    const answer = await send(media, {})
    const path = answer.headers.get('location')!
    const etag = answer.headers.get('etag')!
    expect((await patch(media, path, 'abcd')).status).toBe(428)
    expect((await patch(media, path, 'abcd', { 'if-match': '"other"' })).status).toBe(412)
    expect((await patch(media, path, 'abcd', { 'if-match': etag })).status).toBe(204)

    const restarted = await patch(media, path, 'efgh', { 'if-match': '*' })
    expect(restarted.status).toBe(200)
    const renewed = restarted.headers.get('etag')!
    expect(renewed).not.toBe(etag)
    expect(await restarted.text()).toContain(`a=ice-ufrag:${JSON.parse(renewed)}`)
    expect((await patch(media, path, 'efgh', { 'if-match': etag })).status).toBe(412)
    expect((await send(media, { method: 'PATCH', path, body: 'x' })).status).toBe(415)
    expect((await fetch(media.url + path, { method: 'DELETE' })).status).toBe(200)
    expect((await patch(media, path, 'efgh', { 'if-match': renewed })).status).toBe(404)
  })

  it('releases the session of a viewer who disconnected before the answer', async () => {
    const media = await serveStream()
    const leaving = request(`${media.url}/streams/1/whep`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
    }).on('error', () => {})
    leaving.end(offer)
    await once(leaving, 'finish')
    leaving.destroy()
    // Requests are answered in order: the worker is started for the viewer who left.
    expect((await send(media, {})).status).toBe(201)
    const viewers = async () => (await getWebRtcHealth(media)).viewers
    // Well before the connect timeout of twenty seconds.
    await expect.poll(viewers).toBe(1)
  })

  it('releases a session that does not connect within twenty seconds', async () => {
    const clock = createAdjustableClock()
    const media = await serveStream({ clock })
    expect((await send(media, {})).status).toBe(201)
    clock.advance(10_000)
    expect((await getWebRtcHealth(media)).viewers).toBe(1)
    clock.advance(10_000)
    await expect
      .poll(async () => (await getWebRtcHealth(media)).viewers, { timeout: 60_000 })
      .toBe(0)
  })

  it('releases a session whose lease is not renewed', async () => {
    const clock = createAdjustableClock()
    const media = await serveStream({ clock })
    const answer = await send(media, { path: '/streams/1/whep?lease_s=5' })
    const path = answer.headers.get('location')!
    const renew = async () => (await send(media, { method: 'OPTIONS', path })).status
    for (let renewals = 0; renewals < 2; renewals++) {
      clock.advance(4_000)
      expect(await renew()).toBe(204)
    }
    clock.advance(6_000)
    await expect.poll(async () => (await getWebRtcHealth(media)).viewers).toBe(0)
    expect(await renew()).toBe(404)
  })

  it('rejects a lease that is not a number of seconds', async () => {
    const media = await serveStream()
    for (const lease of ['0', '1.5', 'long', '3601']) {
      expect((await send(media, { path: `/streams/1/whep?lease_s=${lease}` })).status).toBe(400)
    }
  })

  it('has a session only at the path of its stream', async () => {
    const media = await serveStream()
    const path = (await send(media, {})).headers.get('location')!
    const elsewhere = path.replace('/1/', '/2/')
    expect((await send(media, { method: 'DELETE', path: elsewhere })).status).toBe(404)
    expect((await send(media, { method: 'DELETE', path })).status).toBe(200)
  })

  it('requires the token', async () => {
    const media = await serveMedia({ token: 'secret' })
    for (const method of ['OPTIONS', 'POST']) {
      expect((await send(media, { method })).status).toBe(401)
    }
  })
})

describe('WHEP without a worker', () => {
  it('explains in the error and in /health how to install one', async () => {
    const media = await serveStream({ worker: '/nowhere/mediasoup-worker' })
    const reason = expect.stringMatching(/mediasoup's worker.*make worker/)
    const answer = await send(media, {})
    expect([answer.status, await answer.json()]).toEqual([503, { code: 'unavailable', reason }])
    expect(await getWebRtcHealth(media)).toEqual({ state: 'missing', reason, viewers: 0 })
  })

  it('names an executable that does not start', async () => {
    const media = await serveStream({ worker: '/bin/false' })
    expect(await (await send(media, {})).json()).toMatchObject({
      reason: expect.stringContaining('/bin/false'),
    })
    expect((await getWebRtcHealth(media)).state).toBe('failed')
  })

  it('is unavailable when disabled in the settings', async () => {
    const media = await serveStream({ settings: { media: { webrtc: { enabled: false } } } })
    expect((await send(media, {})).status).toBe(503)
    expect(await getWebRtcHealth(media)).toEqual({ state: 'off', viewers: 0 })
  })
})
