import { describe, expect, test } from 'vitest'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedStatefulEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

const call = sharedStatefulEngine()

/** The three kinds of resources; all behave in the same way. */
const kinds = [
  {
    path: '/sources',
    input: cameraSource,
    stored: { ...cameraSource, decoder: 'gst_h264' },
    patch: { rate: 5 },
    reset: 'rate',
  },
  {
    path: '/sinks',
    input: discardSink,
    stored: { ...discardSink, filter: [] },
    patch: { filter: [3] },
    reset: 'filter',
  },
  {
    path: '/pipelines',
    input: { elements: countingElements },
    stored: { elements: countingElements, priority: 5, sources: [], sinks: [] },
    patch: { priority: 9 },
    reset: 'priority',
  },
]

describe.each(kinds)('$path', ({ path, input, stored, patch, reset }) => {
  const create = async () => (await call('POST', path, input)).body.id as number

  test('creates a resource with Location and ETag', async () => {
    const created = await call('POST', path, input)
    expect(created.status).toBe(201)
    expect(created.body).toEqual({ id: expect.any(Number), ...stored })
    expect(created.headers.get('Location')).toBe(`/api/v3${path}/${created.body.id}`)
    const found = await call('GET', `${path}/${created.body.id}`)
    expect([found.status, found.body]).toEqual([200, created.body])
    expect(found.headers.get('ETag')).toBe(created.headers.get('ETag'))
    expect((await call('GET', path)).body).toContainEqual(created.body)
  })

  test('replaces a resource and accepts the id of the path in the body', async () => {
    const id = await create()
    const replaced = await call('PUT', `${path}/${id}`, { ...input, ...patch, id })
    expect([replaced.status, replaced.body]).toEqual([200, { id, ...stored, ...patch }])
    const wrong = await call('PUT', `${path}/${id}`, { ...input, id: id + 1 })
    expect([wrong.status, wrong.body.code, wrong.body.reason]).toEqual([
      400,
      'syntax',
      expect.stringMatching(/^\/id: /),
    ])
  })

  test.each(['application/json', 'application/merge-patch+json'])(
    'applies a merge patch sent as %s; null resets a field',
    async type => {
      const id = await create()
      const modified = await call(
        'PATCH',
        `${path}/${id}`,
        { ...patch, id },
        { 'Content-Type': type },
      )
      expect([modified.status, modified.body]).toEqual([200, { id, ...stored, ...patch }])
      const again = await call(
        'PATCH',
        `${path}/${id}`,
        { [reset]: null },
        { 'Content-Type': type },
      )
      expect(again.body).toEqual({ id, ...stored })
    },
  )

  test('deletes a resource', async () => {
    const id = await create()
    expect(await call('DELETE', `${path}/${id}`)).toMatchObject({ status: 204, body: '' })
    expect(await call('GET', `${path}/${id}`)).toMatchObject({ status: 404, body: { code: 'id' } })
  })

  test('honours Prefer: return=minimal', async () => {
    const minimal = { Prefer: 'return=minimal' }
    const created = await call('POST', path, input, minimal)
    expect([created.status, Object.keys(created.body)]).toEqual([201, ['id']])
    expect(created.headers.get('Preference-Applied')).toBe('return=minimal')
    const one = `${path}/${created.body.id}`
    expect(await call('PUT', one, input, minimal)).toMatchObject({ status: 204, body: '' })
    expect(await call('PATCH', one, patch, minimal)).toMatchObject({ status: 204, body: '' })
    const full = await call('PATCH', one, patch, { Prefer: 'respond-async, return=representation' })
    expect(full.body).toMatchObject(patch)
    expect(full.headers.get('Preference-Applied')).toBe('return=representation')
  })

  test('honours If-Match and If-None-Match', async () => {
    const created = await call('POST', path, input)
    const one = `${path}/${created.body.id}`
    const first = created.headers.get('ETag')!
    const changed = await call('PATCH', one, patch, { 'If-Match': first })
    expect(changed.status).toBe(200)
    for (const [method, body] of [
      ['PUT', input],
      ['PATCH', patch],
      ['DELETE', undefined],
    ] as const) {
      expect(await call(method, one, body, { 'If-Match': first })).toMatchObject({
        status: 412,
        body: { code: 'precondition' },
      })
    }
    const now = changed.headers.get('ETag')!
    expect((await call('GET', one, undefined, { 'If-None-Match': now })).status).toBe(304)
    expect((await call('DELETE', one, undefined, { 'If-Match': `"other", ${now}` })).status).toBe(
      204,
    )
  })

  test.each(['99999', '-1', '2147483648', '1.5', '0x1', 'one', '%20'])(
    'answers the invalid id %s with 404',
    async id => {
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', input],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const) {
        expect(await call(method, `${path}/${id}`, body)).toMatchObject({
          status: 404,
          body: { code: 'id' },
        })
      }
    },
  )

  test('lists the allowed methods', async () => {
    const collection = await call('DELETE', path)
    expect([collection.status, collection.headers.get('Allow')]).toEqual([405, 'GET, HEAD, POST'])
    const one = await call('POST', `${path}/1`, input)
    expect([one.status, one.headers.get('Allow')]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE'])
  })
})
