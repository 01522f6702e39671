import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorTable } from '@eyrie/contract'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createUpstream } from '../upstream.ts'
import { recordingRoutes } from './recordings.ts'

const TOKEN = 'internal'
let asked: { url: string | undefined; token: string | undefined }[]

/** A media that remembers what it is asked. */
async function routes(status = 200, body = 'video') {
  const server = createServer(({ url, headers }, response) => {
    asked.push({ url, token: headers.authorization })
    response.writeHead(status, {
      'Content-Type': 'video/mp4',
      'X-Internal': 'no',
      'Content-Disposition': 'attachment',
    })
    response.end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return recordingRoutes(createUpstream({ name: 'media', url, token: TOKEN }))
}

beforeEach(() => {
  asked = []
})

describe('recordings through management', () => {
  test.each(['/', '/7', '/7/clip.mp4', '/7/metadata'])('%s is asked of media, with its token', async path => {
    const app = await routes()
    const answer = await app.request(`${path}?from=2026-01-01T00:00:00Z&access_token=mine`)
    expect([answer.status, await answer.text()]).toEqual([200, 'video'])
    const url = `/recordings${path === '/' ? '' : path}?from=2026-01-01T00%3A00%3A00Z`
    expect(asked).toEqual([{ url, token: `Bearer ${TOKEN}` }])
    expect(answer.headers.get('Content-Disposition')).toBe('attachment')
    expect(answer.headers.has('X-Internal')).toBe(false)
  })

  test('what media refuses is refused in its words', async () => {
    const body = JSON.stringify({ code: 'id', reason: 'nothing is recorded' })
    const app = await routes(errorTable.id.status, body)
    app.onError((error, c) => c.text(error.message, 404))
    expect(await (await app.request('/7')).text()).toBe('nothing is recorded')
  })

  test('only streams of sources have any', async () => {
    const app = await routes()
    app.onError((error, c) => c.text(error.message, 404))
    expect((await app.request('/..%2fmetrics')).status).toBe(404)
    expect(asked).toEqual([])
  })
})
