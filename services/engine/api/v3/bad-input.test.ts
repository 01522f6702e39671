import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedStatefulEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

const call = sharedStatefulEngine({ EYRIE_LICENSE: 'community' })

describe('invalid input', () => {
  const point = { x: 0.5, y: 0.5 }
  const lines = (...names: string[]) => ({
    lines: names.map(name => ({ name, coords: [point, point] })),
  })
  const element = (name: string, rest: object = {}) => ({ elements: [{ name, ...rest }] })

  test.each([
    ['POST', '/sources', '{"type":', ''],
    ['POST', '/sources', '', ''],
    ['POST', '/sources', [], ''],
    ['POST', '/sources', null, ''],
    ['POST', '/sources', `${'['.repeat(100)}${']'.repeat(100)}`, ''],
    ['POST', '/sources', { address: 'rtsp://a/' }, '/type'],
    ['POST', '/sources', { type: 'tape', address: 'rtsp://a/' }, '/type'],
    ['POST', '/sources', { type: 'video' }, '/address'],
    [
      'POST',
      '/sources',
      { ...cameraSource, address: { url: 'rtsp://a/', colour: 'red' } },
      '/address/colour',
    ],
    ['POST', '/sources', { ...cameraSource, address: { url: 7 } }, '/address/url'],
    ['POST', '/sources', { ...cameraSource, address: { url: 'ftp://a/' } }, '/address/url'],
    ['POST', '/sources', { type: 'file', address: '/etc/passwd' }, '/address'],
    ['POST', '/sources', { type: 'inf', address: 'file:///etc/passwd' }, '/address'],
    ['POST', '/sources', { ...cameraSource, rate: 0 }, '/rate'],
    ['POST', '/sources', { ...cameraSource, rate: 'fast' }, '/rate'],
    ['POST', '/sources', { ...cameraSource, decoder: 'best' }, '/decoder'],
    ['POST', '/sources', { ...cameraSource, id: 1 }, '/id'],
    ['POST', '/sources', { ...cameraSource, 'a/b~c': 1 }, '/a~1b~0c'],
    ['POST', '/sinks', { type: 'file', address: 'file:///etc/x' }, '/address'],
    ['POST', '/sinks', { type: 'inf', address: 'nothing' }, '/address'],
    ['POST', '/sinks', { ...discardSink, filter: [1, 1] }, '/filter'],
    ['POST', '/sinks', { ...discardSink, filter: [-1] }, '/filter/0'],
    ['POST', '/pipelines', { elements: [] }, '/elements'],
    ['POST', '/pipelines', element('no-such-element'), '/elements/0/name'],
    [
      'POST',
      '/pipelines',
      element('line-crossing', { args: { ratio: 2 } }),
      '/elements/0/args/ratio',
    ],
    [
      'POST',
      '/pipelines',
      element('line-crossing', { args: { speed: 2 } }),
      '/elements/0/args/speed',
    ],
    [
      'POST',
      '/pipelines',
      element('line-crossing', { config: { '4711': lines('a') } }),
      '/elements/0/config/4711',
    ],
    [
      'POST',
      '/pipelines',
      element('line-crossing', { config: { door: lines('a') } }),
      '/elements/0/config/door',
    ],
    [
      'POST',
      '/pipelines',
      element('infer', { args: { model: 'no-such-model' } }),
      '/elements/0/args/model',
    ],
    ['POST', '/pipelines', element('infer'), '/elements/0/args/model'],
    ['POST', '/pipelines', element('infer', { hw: 'gpu' }), '/elements/0/hw'],
    [
      'POST',
      '/pipelines',
      element('image-resize', { args: { width: 640 } }),
      '/elements/0/args/height',
    ],
    ['POST', '/pipelines', { elements: countingElements, priority: 10 }, '/priority'],
    ['POST', '/activation', { version: 2 }, '/version'],
    ['POST', '/pipelines/1/connect-sources', { sources: [1] }, ''],
    ['POST', '/pipelines/1/connect-sources', [1, 1], ''],
    ['GET', '/catalog?filter=plugins', undefined, '?/filter/0'],
    ['GET', '/exports?filter=channels,all', undefined, '?/filter/1'],
    ['GET', '/exports/channels/properties?ids=1&ids=x', undefined, '?/ids/1'],
    ['GET', '/exports/channels/properties?format=svg', undefined, '?/format'],
    ['DELETE', '/sources/1?force=perhaps', undefined, '?/force'],
    ['GET', '/output?since=-1', undefined, '?/since'],
    ['GET', '/output', undefined, ''],
  ])(
    'is rejected with its place and changes nothing: %s %s with %j',
    async (method, path, body, place) => {
      const before = (await call('GET', '/configuration')).body
      const answer = await call(method, path, body)
      expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
      if (place) expect(answer.body.reason.startsWith(`${place}: `), answer.body.reason).toBe(true)
      expect((await call('GET', '/configuration')).body).toEqual(before)
    },
  )

  test('is rejected with a content type other than JSON', async () => {
    const answer = await call('POST', '/sources', 'type=video', { 'Content-Type': 'text/plain' })
    expect([answer.status, answer.body.code]).toEqual([415, 'type'])
    const patch = await call(
      'PUT',
      '/sources/1',
      {},
      { 'Content-Type': 'application/merge-patch+json' },
    )
    expect(patch.status).toBe(415)
  })

  test('is rejected if the body is compressed or not UTF-8', async () => {
    const headers = { 'Content-Encoding': 'gzip' }
    const compressed = new Uint8Array(gzipSync(JSON.stringify(cameraSource)))
    expect(await call('POST', '/sources', compressed, headers)).toMatchObject({
      status: 415,
      body: { code: 'type', reason: expect.stringContaining('without Content-Encoding') },
    })
    const latin1 = new Uint8Array(
      Buffer.from(JSON.stringify({ elements: countingElements, usecase: 'Tür' }), 'latin1'),
    )
    expect(await call('POST', '/pipelines', latin1)).toMatchObject({
      status: 400,
      body: { code: 'syntax', reason: expect.stringContaining('not valid UTF-8') },
    })
  })

  test.each([
    ['POST', '/sources', {}, '/type: is required'],
    ['POST', '/sources', { type: 'video' }, '/address: is required'],
    ['POST', '/sources', { type: 'video', address: {} }, '/address/url: is required'],
    [
      'POST',
      '/sources',
      { type: 'video', address: 5 },
      '/address: Invalid input: expected string or object',
    ],
    ['POST', '/cameras/test', 5, 'Invalid input: expected string or object'],
    [
      'POST',
      '/sinks',
      { type: 'file', address: '/a' },
      '/address: must be a URL such as file:///output/results.jsonl',
    ],
    ['POST', '/configuration', [{}], '/0/sources: is required'],
    [
      'GET',
      '/exports/channels/properties?ids=one',
      undefined,
      '?/ids/0: ids are integers from 0 to 2147483647',
    ],
    ['GET', '/output?since=now', undefined, '?/since: must be a sequence number'],
    [
      'GET',
      '/exports/channels/1/snapshot.jpg?width=9e9',
      undefined,
      '?/width: must be an integer from 16 to 8192',
    ],
    [
      'PUT',
      '/plugins/motion',
      { version: '1' },
      '/version: must be a semantic version such as 1.4.0 or 1.4.0-beta.1',
    ],
    [
      'PUT',
      '/plugins/motion',
      { version: '1' },
      '/version: must be a semantic version such as 1.4.0 or 1.4.0-beta.1',
    ],
  ])('is rejected with a readable reason: %s %s with %j', async (method, path, body, reason) => {
    expect(await call(method, path, body)).toMatchObject({
      status: 400,
      body: { code: 'syntax', reason },
    })
  })

  test('is rejected if the body is larger than 4 MiB', async () => {
    const answer = await call('POST', '/sources', {
      ...cameraSource,
      address: `rtsp://${'a'.repeat(4 << 20)}/`,
    })
    expect([answer.status, answer.body.code]).toEqual([413, 'size'])
  })

  test('is rejected at an unknown path', async () => {
    expect(await call('GET', '/cameras')).toMatchObject({ status: 404, body: { code: 'id' } })
  })

  test('never causes an internal error', async () => {
    const paths = [
      '/sources',
      '/sinks',
      '/pipelines',
      '/configuration',
      '/activation',
      '/pipelines/1/connect-sinks',
    ]
    const near = fc.record(
      {
        type: fc.constantFrom('video', 'file', 'inf'),
        address: fc.oneof(
          fc.webUrl(),
          fc.string(),
          fc.record({ url: fc.string(), password: fc.string() }),
        ),
        filter: fc.array(fc.integer()),
        elements: fc.array(
          fc.record({
            name: fc.constantFrom('infer', 'line-crossing'),
            args: fc.object(),
            config: fc.object(),
          }),
        ),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.oneof(near, fc.array(near), fc.jsonValue()),
        async (path, body) => {
          const { status } = await call('POST', path, JSON.stringify(body))
          expect([200, 201, 400, 403, 404]).toContain(status)
        },
      ),
      { numRuns: 300 },
    )
  })
})
