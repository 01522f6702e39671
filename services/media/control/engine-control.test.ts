import { once } from 'node:events'
import { mediaHealth } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { connectControl, view, wantSource } from '../../../test/fixtures/control.ts'
import { serveMedia } from '../../../test/fixtures/serve-media.ts'

const views = { grey: view({ format: 'GRAY8', width: 64 }) }
const ball = wantSource({ id: 1, type: 'inf', url: 'test://ball', views })

describe('the control connection', () => {
  test('begins with what media is', async () => {
    const media = await serveMedia()
    const control = await media.control()
    const port = Number(new URL(media.url).port)
    expect(await control.message('hello')).toMatchObject({
      ...{ hostname: '127.0.0.1', port },
      gstreamer: expect.stringMatching(/^GStreamer 1\.\d+/),
      epoch: expect.any(Number),
    })
  })

  test('tells a new engine what was there before it', async () => {
    const media = await serveMedia()
    const first = await media.control()
    await first.apply(ball)
    const { path, generation } = await first.message('view')
    await first.status(1, ({ state }) => state === 'running')
    first.close()
    await first.closed

    const second = await media.control()
    await second.apply(ball)
    expect(await second.message('view')).toMatchObject({ path, generation })
    expect(await second.message('source')).toMatchObject({ status: { id: 1, state: 'running' } })
  })

  test('goes over to the engine that connects last', async () => {
    const media = await serveMedia()
    const [old, young] = [await media.control(), await media.control()]
    expect(await old.closed).toEqual({ code: 4000, reason: 'another engine has connected' })
    await young.apply(ball)
    await young.message('frame')
  })

  test.each([
    ['no JSON', 'hello?', /JSON/],
    ['an unknown type', '{"type":"stop"}', /type/],
    ['a missing field', '{"type":"apply","revision":1}', /sources/],
    ['a field too many', JSON.stringify({ type: 'apply', revision: 1, sources: [], more: 1 }), /more/],
  ])('is closed on %s, with the reason', async (_, text, reason) => {
    const media = await serveMedia()
    const control = await media.control()
    control.sendText(text)
    expect(await control.closed).toMatchObject({ code: 4001, reason: expect.stringMatching(reason) })
    await (await media.control()).apply(ball)
  })

  test('says of a source that cannot even be made why, and goes on with the others', async () => {
    const media = await serveMedia()
    const control = await media.control()
    await control.apply(wantSource({ id: 2, type: 'zmq', url: 'nowhere' }), ball)
    const { reason } = await control.status(2, ({ state }) => state === 'failed')
    expect(reason).toMatch(/./)
    await control.message('frame', ({ source }) => source === 1)
  })

  test('leaves alone what does not differ', async () => {
    const media = await serveMedia()
    const control = await media.control()
    const other = { ...ball, id: 2 }
    await control.apply(ball, other)
    await control.message('frame', ({ source }) => source === 1)
    await control.message('frame', ({ source }) => source === 2)
    const before = control.messages.length
    await control.apply(ball, { ...other, address: { url: 'test://snow' } })
    await control.next('frame', frame => frame.source === 2 && frame.discontinuity)
    await control.apply(ball)
    await control.next('frame', ({ source }) => source === 1)

    const since = control.messages.slice(before)
    const ofBall = since.filter(each => each.type === 'source' && each.status.id === 1)
    expect(ofBall).toEqual([])
    expect(since.some(each => each.type === 'frame' && each.source === 1 && each.discontinuity)).toBe(false)
    expect(await (await fetch(`${media.url}/streams`)).json()).toMatchObject([{ id: 1 }])
  })

  test('lets the time of a source go on where it becomes another, or comes again', async () => {
    const media = await serveMedia()
    const control = await media.control()
    const snow = { ...ball, address: { url: 'test://snow' } }
    for (const wanted of [[ball], [snow], [], [ball]]) {
      await control.apply(...wanted)
      if (wanted.length > 0) await control.next('frame')
    }
    const times = control.messages.flatMap(each => (each.type === 'frame' ? each.pts : []))
    expect(times.length).toBeGreaterThan(2)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })

  test('takes a source away with its stream and its rings', async () => {
    const media = await serveMedia()
    const control = await media.control()
    await control.apply(ball)
    await control.status(1, ({ state }) => state === 'running')
    const socket = new WebSocket(`${media.url.replace('http', 'ws')}/streams/1/ws`)
    await once(socket, 'message')
    await control.apply()
    const [code] = await once(socket, 'close')
    expect(code).toBe(1000)
    expect((await fetch(`${media.url}/streams/1`)).status).toBe(404)
  })
})

describe('with an internal token', () => {
  const token = 'internal-token'

  test.each([
    '/streams',
    '/streams/1',
    '/streams/1/ws',
    '/streams/1/snapshot.jpg',
    '/recordings',
    '/metrics',
    '/internal/control',
  ])('%s is closed to who does not know it', async path => {
    const media = await serveMedia({ token })
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const answer = await fetch(`${media.url}${path}`, { headers })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await answer.json()).toMatchObject({ code: 'auth' })
    }
  })

  test('everything is open to who does, and health to everybody', async () => {
    const media = await serveMedia({ token })
    const control = await media.control()
    await control.apply(ball)
    await control.status(1, ({ state }) => state === 'running')
    const socket = new WebSocket(`${media.url.replace('http', 'ws')}/streams/1/ws?access_token=${token}`)
    await once(socket, 'message')
    socket.close()
    expect(await media.metric('eyrie_media_sources', '{state="running"}')).toBe(1)
    expect(mediaHealth.parse(await (await fetch(`${media.url}/health`)).json())).toMatchObject({
      ...{ ok: true, engine: true },
      sources: { running: 1, failed: 0 },
    })
  })

  test('who may ask the engine sees its streams, recordings and metrics', async () => {
    const media = await serveMedia({ token, engineToken: 'of-the-engine' })
    const status = async (path: string) =>
      (await fetch(media.url + path, { headers: { authorization: 'Bearer of-the-engine' } })).status
    for (const path of ['/streams', '/recordings', '/metrics'])
      expect([path, await status(path)]).toEqual([path, 200])
    for (const path of ['/internal/control', '/cameras/discover'])
      expect([path, await status(path)]).toEqual([path, 401])
  })

  test('a control connection without it does not come about', async () => {
    const media = await serveMedia({ token })
    await expect(connectControl(media.url, 'wrong')).rejects.toThrow('401')
  })
})
