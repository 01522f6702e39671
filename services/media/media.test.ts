import { expect, it } from 'vitest'
import { serveMedia } from '../../test/fixtures/media/served-media.ts'

it('the media service answers unknown paths and methods with an error document', async () => {
  const media = await serveMedia()
  const request = async (method: string, path: string) => {
    const answer = await fetch(media.url + path, { method })
    const { code } = (await answer.json()) as { code: string }
    return [answer.status, code, answer.headers.get('allow')]
  }
  expect(await request('GET', '/nowhere')).toEqual([404, 'id', null])
  for (const path of [
    '/streams',
    '/streams/1',
    '/streams/1/ws',
    '/recordings',
    '/metrics',
    '/health',
  ]) {
    expect([path, ...(await request('PUT', path))]).toEqual([path, 405, 'method', 'GET, HEAD'])
  }
  expect(await request('PUT', '/streams/1/snapshot.jpg')).toEqual([
    405,
    'method',
    'GET, HEAD, POST',
  ])
  // A WHEP endpoint and a WHEP session (RFC 9725, section 4).
  for (const method of ['GET', 'PUT', 'DELETE']) {
    expect(await request(method, '/streams/1/whep')).toEqual([405, 'method', 'OPTIONS, POST'])
  }
  for (const method of ['GET', 'PUT', 'POST']) {
    expect(await request(method, '/streams/1/whep/x')).toEqual([
      405,
      'method',
      'OPTIONS, PATCH, DELETE',
    ])
  }
  expect(await request('GET', '/internal/control')).toEqual([400, 'syntax', null])
})

it.each([
  ['/cameras/test', 1 << 20],
  ['/streams/1/snapshot.jpg', 5 << 20],
])('the media service rejects a body that is too large for %s', async (path, bytes) => {
  const media = await serveMedia()
  const answer = await fetch(media.url + path, { method: 'POST', body: ' '.repeat(bytes) })
  expect([answer.status, await answer.json()]).toEqual([
    413,
    expect.objectContaining({ code: 'size' }),
  ])
})
