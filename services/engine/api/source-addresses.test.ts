import { describe, expect, test } from 'vitest'
import type { ApiRevision } from '../../../test/fixtures/engine/engine.ts'
import { sharedEngine } from '../../../test/fixtures/engine/shared-engine.ts'

const callOf = sharedEngine()
const revisions: ApiRevision[] = ['v1', 'v2', 'v3']

test.each(['ftp://camera/', 'gopher://camera', '/dev/sda', 'camera'])(
  'the camera test rejects %s with examples of valid addresses',
  async url => {
    const reason =
      'a camera has an address such as rtsp://host:554/stream, https://host/video.mjpg or /dev/video0, or onvif://host for ONVIF'
    const test = (body: unknown) => callOf('v3')('POST', '/cameras/test', body)
    // A string is valid JSON.
    expect(await test(JSON.stringify(url))).toMatchObject({
      status: 400,
      body: { code: 'syntax', reason },
    })
    expect(await test({ url })).toMatchObject({ status: 400, body: { reason: `/url: ${reason}` } })
  },
)

test.each(['rtsp://camera/stream', 'http://camera/video.mjpg', '/dev/video0', 'onvif://camera'])(
  'the camera test forwards %s to the media service',
  async url => {
    const { status, body } = await callOf('v3')('POST', '/cameras/test', { url })
    expect([status, body.code]).toEqual([503, 'unavailable'])
  },
)

describe.each(revisions)('address of a source in %s', revision => {
  test.each([
    ['video', 'ftp://camera/', 'rtsp://host:554/stream, https://host/video.mjpg or /dev/video0'],
    ['video', '/dev/sda', 'rtsp://host:554/stream, https://host/video.mjpg or /dev/video0'],
    ['hosted_video', 'http://host:8200/', 'http://host:8200/streams/1'],
    ['hosted_video', 'rtsp://host/streams/1', 'http://host:8200/streams/1'],
  ])('of type %s is rejected with an example: %s', async (type, url, example) => {
    const call = callOf(revision)
    for (const [address, place] of [
      [url, '/address'],
      [{ url }, '/address/url'],
    ] as const) {
      const { status, body } = await call('POST', '/sources', { type, address })
      expect(status).toBe(400)
      expect(body).toMatchObject({
        code: 'syntax',
        reason: `${place}: a source of type ${type} has an address such as ${example}`,
      })
    }
  })

  test.each([
    ['file', '/etc/passwd', /lies outside the allowed folders/],
    ['inf', 'test://NONSENSE', /^\/address: a test picture has an address such as test:\/\/smpte/],
    ['video', { url: 'http://camera/', token: 'a b' }, /^\/address\/token: /],
    ['video', { url: 'rtsp://camera/', transport: 'sctp' }, /^\/address\/transport: /],
    ['video', { url: 'rtsp://camera/', latency_ms: -1 }, /^\/address\/latency_ms: /],
    ['video', { url: 'rtsp://camera/', tls_insecure: 'yes' }, /^\/address\/tls_insecure: /],
  ])('of type %s is rejected: %o', async (type, address, reason) => {
    const { status, body } = await callOf(revision)('POST', '/sources', { type, address })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'syntax', reason: expect.stringMatching(reason) })
  })

  test('retains secrets if *** is sent back, and never returns them', async () => {
    const call = callOf(revision)
    const address = {
      url: 'https://viewer:xyzzy@camera/live.mp4?channel=1&pwd=xyzzy',
      username: 'viewer',
      password: 'xyzzy',
      token: 'xyzzy',
      transport: 'tcp',
      latency_ms: 500,
      tls_insecure: true,
    }
    const shown = {
      ...address,
      url: 'https://viewer:***@camera/live.mp4?channel=1&pwd=***',
      password: '***',
      token: '***',
    }
    const created = await call('POST', '/sources', { type: 'video', address })
    expect(created.status).toBe(201)
    const { id } = (created.body ?? {}) as { id: number }
    const read = await call('GET', `/sources/${id}`)
    expect(read.body).toMatchObject({ type: 'video', address: shown })
    const put = await call('PUT', `/sources/${id}`, { type: 'video', address: shown, rate: 5 })
    expect(put.status).toBe(200)
    expect(put.body).toMatchObject({ address: shown, rate: 5 })
    const patched = await call('PATCH', `/sources/${id}`, { address: { latency_ms: 100 } })
    expect(patched.body).toMatchObject({ address: { ...shown, latency_ms: 100 } })
    const all = JSON.stringify([created.body, read.body, put.body, patched.body])
    expect(all).not.toContain('xyzzy')
  })
})
