import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { mediaHealth } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import { createTurnableClock } from '../../../test/fixtures/clock.ts'
import { wantSource } from '../../../test/fixtures/control.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/serve-media.ts'
import { makeVideo } from '../../../test/fixtures/video.ts'
import { webrtcWorker, whyNoWorker } from '../../../test/fixtures/webrtc-worker.ts'
import { offeredAudio as audio, offerOf, offeredVideo as video } from '../../../test/fixtures/whep-offer.ts'

const offer = offerOf(audio, video)

async function serveStream(options?: Parameters<typeof serveMedia>[0]) {
  const media = await serveMedia(options)
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, { frames: 60 })
  const control = await media.control()
  await control.apply(wantSource({ id: 1, type: 'inf', url: path }))
  await control.status(1, ({ state }) => state === 'running')
  return media
}

const webrtc = async (media: ServedMedia) =>
  mediaHealth.parse(await (await fetch(`${media.url}/health`)).json()).webrtc

interface Asked {
  method?: string
  path?: string
  type?: string
  body?: string
  headers?: Record<string, string>
}

function ask(media: ServedMedia, { method = 'POST', path = '/streams/1/whep', type, body, headers }: Asked) {
  const all = { ...headers, 'content-type': type ?? 'application/sdp' }
  return fetch(media.url + path, {
    method,
    headers: all,
    body: body ?? (method === 'POST' ? offer : undefined),
  })
}

const patch = (media: ServedMedia, path: string, ufrag: string, headers?: Record<string, string>) =>
  ask(media, {
    method: 'PATCH',
    path,
    type: 'application/trickle-ice-sdpfrag',
    body: `a=ice-ufrag:${ufrag}\r\na=ice-pwd:0123456789012345678901\r\n`,
    headers,
  })

describe.runIf(webrtcWorker)(`WHEP${whyNoWorker}`, () => {
  test('answers an offer with the stream and declines the rest of it', async () => {
    const media = await serveStream()
    const answer = await ask(media, {})
    expect(answer.status).toBe(201)
    expect(answer.headers.get('content-type')).toBe('application/sdp')
    expect(answer.headers.get('location')).toMatch(/^\/streams\/1\/whep\/[0-9a-f-]{36}$/)
    const sdp = await answer.text()
    expect(sdp).toMatch(/m=audio 0 .*\r\na=mid:0\r\na=inactive\r\nm=video 9 UDP\/TLS\/RTP\/SAVPF 109\r\n/)
    expect(sdp).toMatch(/a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 \d+ typ host\r\n/)
    expect(sdp).toMatch(/a=candidate:\S+ 1 tcp \d+ 127\.0\.0\.1 \d+ typ host tcptype passive\r\n/)
  })

  test('tells the addresses, the port and the ICE servers of the settings', async () => {
    const ice_servers = [
      { urls: ['stun:stun.example:3478'] },
      { urls: ['turn:turn.example:3478?transport=udp'], username: 'viewer', credential: 'p"w' },
    ]
    const announced = ['203.0.113.7', 'box.example']
    const media = await serveStream({ settings: { media: { webrtc: { ice_servers, announced } } } })
    const links =
      '<stun:stun.example:3478>; rel="ice-server", <turn:turn.example:3478?transport=udp>; rel="ice-server"; username="viewer"; credential="p\\"w"; credential-type="password"'
    const asked = await ask(media, { method: 'OPTIONS' })
    expect([asked.status, asked.headers.get('accept-post')]).toEqual([204, 'application/sdp'])
    expect(asked.headers.get('link')).toBe(links)

    const answer = await ask(media, {})
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

  test.each<[string, number, Asked]>([
    ['an offer of another type', 415, { type: 'text/plain' }],
    ['no SDP', 400, { body: 'hello' }],
    ['an offer without a picture', 400, { body: offerOf(audio) }],
    ['an offer to send', 400, { body: offerOf(video.map(line => line.replace('recvonly', 'sendonly'))) }],
    ['an offer without a fingerprint', 400, { body: offer.replace(/a=fingerprint.*\r\n/, '') }],
    ['a fingerprint that is none', 400, { body: offer.replace(/AB:/g, 'XY:') }],
    ['a hash that nobody knows', 400, { body: offer.replace('sha-256', 'crc-32') }],
    ['an offer without H.264', 406, { body: offerOf(video.slice(0, 4)) }],
    ['an offer without end', 413, { body: offer + 'a=x\r\n'.repeat(20_000) }],
    ['a stream that is not there', 404, { path: '/streams/2/whep' }],
    ['an end of a session that is not there', 404, { method: 'DELETE', path: '/streams/1/whep/x' }],
  ])('refuses %s with %i', async (_, status, asked) => {
    const media = await serveStream()
    const answer = await ask(media, asked)
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status,
      body: { code: expect.any(String), reason: expect.stringMatching(/.{10}/) },
    })
    expect((await webrtc(media)).viewers).toBe(0)
  })

  test('takes a PATCH only by who knows the state of the session', async () => {
    const media = await serveStream()
    const answer = await ask(media, {})
    const [path, etag] = [answer.headers.get('location')!, answer.headers.get('etag')!]
    expect((await patch(media, path, 'abcd')).status).toBe(428)
    expect((await patch(media, path, 'abcd', { 'if-match': '"other"' })).status).toBe(412)
    expect((await patch(media, path, 'abcd', { 'if-match': etag })).status).toBe(204)

    const restarted = await patch(media, path, 'efgh', { 'if-match': '*' })
    expect(restarted.status).toBe(200)
    const renewed = restarted.headers.get('etag')!
    expect(renewed).not.toBe(etag)
    expect(await restarted.text()).toContain(`a=ice-ufrag:${JSON.parse(renewed)}`)
    expect((await patch(media, path, 'efgh', { 'if-match': etag })).status).toBe(412)
    expect((await ask(media, { method: 'PATCH', path, body: 'x' })).status).toBe(415)
    expect((await fetch(media.url + path, { method: 'DELETE' })).status).toBe(200)
    expect((await patch(media, path, 'efgh', { 'if-match': renewed })).status).toBe(404)
  })

  test('forgets at once who has left before he was answered', async () => {
    const media = await serveStream()
    const leaving = request(`${media.url}/streams/1/whep`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
    }).on('error', () => {})
    leaving.end(offer)
    await once(leaving, 'finish')
    leaving.destroy()
    // The worker is started for the one who left: who asks after him is answered after him.
    expect((await ask(media, {})).status).toBe(201)
    const viewers = async () => (await webrtc(media)).viewers
    // Sooner than one is forgotten who was answered and does not connect.
    await expect.poll(viewers, { timeout: 10_000 }).toBe(1)
  })

  test('forgets after twenty seconds who was answered and has not connected', async () => {
    const clock = createTurnableClock()
    const media = await serveStream({ clock })
    expect((await ask(media, {})).status).toBe(201)
    clock.advance(10_000)
    expect((await webrtc(media)).viewers).toBe(1)
    clock.advance(10_000)
    await expect.poll(async () => (await webrtc(media)).viewers, { timeout: 10_000 }).toBe(0)
  })

  test('is as closed as the other ways to watch', async () => {
    const media = await serveMedia({ token: 'secret' })
    for (const method of ['OPTIONS', 'POST']) expect((await ask(media, { method })).status).toBe(401)
  })
})

describe('WHEP without a worker', () => {
  test('says how to get one, and in /health, too', async () => {
    const media = await serveStream({ worker: '/nowhere/mediasoup-worker' })
    const reason = expect.stringMatching(/mediasoup's worker.*make worker/)
    const answer = await ask(media, {})
    expect([answer.status, await answer.json()]).toEqual([503, { code: 'unavailable', reason }])
    expect(await webrtc(media)).toEqual({ state: 'missing', reason, viewers: 0 })
  })

  test('says what does not start', async () => {
    const media = await serveStream({ worker: '/bin/false' })
    expect(await (await ask(media, {})).json()).toMatchObject({
      reason: expect.stringContaining('/bin/false'),
    })
    expect((await webrtc(media)).state).toBe('failed')
  })

  test('is not there where the settings say so', async () => {
    const media = await serveStream({ settings: { media: { webrtc: { enabled: false } } } })
    expect((await ask(media, {})).status).toBe(503)
    expect(await webrtc(media)).toEqual({ state: 'off', viewers: 0 })
  })
})
