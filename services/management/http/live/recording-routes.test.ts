import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ERROR_TABLE, type EyrieError } from '@eyrie/contract'
import { Hono } from 'hono'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createRecordingRoutes } from './recording-routes.ts'
import { createUpstream } from './upstream-client.ts'
import { setVisibleChannels } from './visible-channels.ts'

const TOKEN = 'internal'
let requests: { url: string | undefined; headers: IncomingHttpHeaders }[]

/** Starts a server that acts as the media service and the engine, and records its requests. */
async function createApp(status = 200, body = 'video', more: Record<string, string> = {}) {
  const server = createServer(({ url, headers }, response) => {
    requests.push({ url, headers })
    response.writeHead(status, {
      'Content-Type': 'video/mp4',
      'X-Internal': 'no',
      'Content-Disposition': 'attachment',
      ...more,
    })
    response.end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const app = createRecordingRoutes({
    media: createUpstream({ name: 'media', url, token: TOKEN }),
    engine: createUpstream({ name: 'engine', url, token: TOKEN }),
  })
  app.onError((error, c) => {
    const known = error as EyrieError
    return c.json(known.toBody(), known.status as 404)
  })
  return app
}

beforeEach(() => {
  requests = []
})

describe('recording routes', () => {
  test.each(['/', '/7', '/7/clip.mp4', '/7/metadata', '/7/events', '/7/segments'])(
    'forwards %s to media with its token',
    async path => {
      const app = await createApp()
      const reply = await app.request(`${path}?from=2026-01-01T00:00:00Z&access_token=mine`)
      expect([reply.status, await reply.text()]).toEqual([200, 'video'])
      const [{ url, headers }] = requests as [(typeof requests)[0]]
      expect(url).toBe(`/recordings${path === '/' ? '' : path}?from=2026-01-01T00%3A00%3A00Z`)
      expect(headers.authorization).toBe(`Bearer ${TOKEN}`)
      expect(reply.headers.get('Content-Disposition')).toBe('attachment')
      expect(reply.headers.has('X-Internal')).toBe(false)
    },
  )

  test.each(['metadata', 'events'])(
    'requests only the %s of the channels that the caller may see',
    async name => {
      const routes = await createApp()
      const app = new Hono()
      app.use((c, next) => {
        setVisibleChannels(c, [4, 5])
        return next()
      })
      app.route('/', routes)
      await app.request(`/7/${name}?channels=6`)
      expect(requests[0]!.url).toBe(`/recordings/7/${name}?channels=4%2C5`)
    },
  )

  test('forwards range requests and partial responses', async () => {
    const app = await createApp(206, 'de', {
      'Content-Range': 'bytes 3-4/9',
      ETag: '"x"',
      'Accept-Ranges': 'bytes',
    })
    const reply = await app.request('/7/segments/a%2Fb.mp4', {
      headers: { Range: 'bytes=3-4', 'If-Range': '"x"', Cookie: 'mine' },
    })
    expect([reply.status, await reply.text()]).toEqual([206, 'de'])
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-range': 'bytes 3-4/9',
      'accept-ranges': 'bytes',
      etag: '"x"',
    })
    const [{ url, headers }] = requests as [(typeof requests)[0]]
    expect([url, headers.range, headers['if-range']]).toEqual([
      '/recordings/7/segments/a%2Fb.mp4',
      'bytes=3-4',
      '"x"',
    ])
    expect(headers).not.toHaveProperty('cookie')
  })

  test('rejects an unsatisfiable range with the full length of the file', async () => {
    const app = await createApp(
      416,
      JSON.stringify({ code: 'syntax', reason: 'too far', value: { bytes: 9 } }),
    )
    const reply = await app.request('/7/clip.mp4', { headers: { Range: 'bytes=10-' } })
    expect([reply.status, reply.headers.get('Content-Range')]).toEqual([416, 'bytes */9'])
    expect(await reply.json()).toMatchObject({ code: 'syntax', reason: 'too far' })
  })

  test('responds to HEAD without a body', async () => {
    const app = await createApp(200, 'video', { 'Content-Length': '5' })
    const reply = await app.request('/7/clip.mp4', { method: 'HEAD' })
    expect([reply.status, reply.headers.get('Content-Length'), await reply.text()]).toEqual([
      200,
      '5',
      '',
    ])
  })

  test('passes on errors of media', async () => {
    const body = JSON.stringify({ code: 'id', reason: 'nothing is recorded' })
    const app = await createApp(ERROR_TABLE.id.status, body)
    for (const method of ['GET', 'HEAD']) {
      expect((await app.request('/7', { method })).status).toBe(404)
    }
    expect(await (await app.request('/7')).json()).toMatchObject({ reason: 'nothing is recorded' })
  })

  test('rejects ids that are not streams of sources', async () => {
    const app = await createApp()
    expect((await app.request('/..%2fmetrics')).status).toBe(404)
    expect(requests).toEqual([])
  })

  test('lists names of sources without passwords', async () => {
    const sources = [
      {
        id: 3,
        type: 'video',
        address: 'rtsp://user:secret@door.local/stream',
        decoder: 'gst_h264',
      },
      { id: 4, type: 'file', address: '/videos/yard.mp4', decoder: 'gst_h264' },
    ]
    const app = await createApp(200, JSON.stringify({ sources, sinks: [], pipelines: [] }))
    const reply = await app.request('/sources')
    expect(await reply.json()).toEqual([
      { id: 3, name: 'door.local/stream' },
      { id: 4, name: 'yard.mp4' },
    ])
  })
})
