import { expect, test } from 'vitest'
import { serveMedia } from '../../test/fixtures/serve-media.ts'

test('what media does not serve is answered like any other error', async () => {
  const media = await serveMedia()
  const ask = async (method: string, path: string) => {
    const answer = await fetch(media.url + path, { method })
    const { code } = (await answer.json()) as { code: string }
    return [answer.status, code, answer.headers.get('allow')]
  }
  expect(await ask('GET', '/nowhere')).toEqual([404, 'id', null])
  for (const path of ['/streams', '/streams/1', '/streams/1/ws', '/recordings', '/metrics', '/health'])
    expect([path, ...(await ask('PUT', path))]).toEqual([path, 405, 'method', 'GET, HEAD'])
  expect(await ask('PUT', '/streams/1/snapshot.jpg')).toEqual([405, 'method', 'GET, HEAD, POST'])
  // RFC 9725, 4: of an endpoint and of a session.
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(await ask(method, '/streams/1/whep')).toEqual([405, 'method', 'OPTIONS, POST'])
  for (const method of ['GET', 'PUT', 'POST'])
    expect(await ask(method, '/streams/1/whep/x')).toEqual([405, 'method', 'PATCH, DELETE'])
  expect(await ask('GET', '/internal/control')).toEqual([400, 'syntax', null])
})
