import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { communityLicense, errorBody } from '@eyrie/contract'
import { type Route, routesC } from '@eyrie/contract/routes'
import { createLog, readEnvironment, type Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../engine.ts'

let data: string
let engine: Service
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'eyrie-api-'))
  const environment = readEnvironment({ EYRIE_DATA: data, EYRIE_MEDIA_URL: 'http://127.0.0.1:9' })
  engine = createEngine({ environment, log: createLog('test', 'silent') })
  await engine.start()
})
afterAll(async () => {
  await engine.stop()
  await rm(data, { recursive: true })
})

interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever the engine has answered
  body: any
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await engine.app.request(`/api/v3${path}`, {
    method,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    body: body === undefined || typeof body === 'string' ? (body as string) : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}

const camera = { type: 'video', address: 'rtsp://camera/stream' }
const discard = { type: 'inf', address: 'inf://nothing' }
const elements = [{ name: 'object-tracking' }, { name: 'line-crossing' }]

/** The three kinds of resources, which behave alike. */
const kinds = [
  {
    path: '/sources',
    input: camera,
    stored: { ...camera, decoder: 'gst_h264' },
    patch: { rate: 5 },
    reset: 'rate',
  },
  {
    path: '/sinks',
    input: discard,
    stored: { ...discard, filter: [] },
    patch: { filter: [3] },
    reset: 'filter',
  },
  {
    path: '/pipelines',
    input: { elements },
    stored: { elements, priority: 5, sources: [], sinks: [] },
    patch: { priority: 9 },
    reset: 'priority',
  },
]

describe.each(kinds)('$path', ({ path, input, stored, patch, reset }) => {
  const create = async () => (await call('POST', path, input)).body.id as number

  test('creates, with Location and ETag, what is then found there', async () => {
    const created = await call('POST', path, input)
    expect(created.status).toBe(201)
    expect(created.body).toEqual({ id: expect.any(Number), ...stored })
    expect(created.headers.get('Location')).toBe(`/api/v3${path}/${created.body.id}`)
    const found = await call('GET', `${path}/${created.body.id}`)
    expect([found.status, found.body]).toEqual([200, created.body])
    expect(found.headers.get('ETag')).toBe(created.headers.get('ETag'))
    expect((await call('GET', path)).body).toContainEqual(created.body)
  })

  test('replaces; an id in the body may repeat that of the path', async () => {
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
    'modifies by a merge patch as %s; null resets',
    async type => {
      const id = await create()
      const modified = await call('PATCH', `${path}/${id}`, { ...patch, id }, { 'Content-Type': type })
      expect([modified.status, modified.body]).toEqual([200, { id, ...stored, ...patch }])
      const again = await call('PATCH', `${path}/${id}`, { [reset]: null }, { 'Content-Type': type })
      expect(again.body).toEqual({ id, ...stored })
    },
  )

  test('deletes', async () => {
    const id = await create()
    expect(await call('DELETE', `${path}/${id}`)).toMatchObject({ status: 204, body: '' })
    expect(await call('GET', `${path}/${id}`)).toMatchObject({ status: 404, body: { code: 'id' } })
  })

  test('answers as short as it is asked to', async () => {
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
    ] as const)
      expect(await call(method, one, body, { 'If-Match': first })).toMatchObject({
        status: 412,
        body: { code: 'precondition' },
      })
    const now = changed.headers.get('ETag')!
    expect((await call('GET', one, undefined, { 'If-None-Match': now })).status).toBe(304)
    expect((await call('DELETE', one, undefined, { 'If-Match': `"other", ${now}` })).status).toBe(204)
  })

  test.each(['99999', '-1', '2147483648', '1.5', '0x1', 'one', '%20'])('has nothing at /%s', async id => {
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', input],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const)
      expect(await call(method, `${path}/${id}`, body)).toMatchObject({ status: 404, body: { code: 'id' } })
  })

  test('says which methods it has', async () => {
    const collection = await call('DELETE', path)
    expect([collection.status, collection.headers.get('Allow')]).toEqual([405, 'GET, HEAD, POST'])
    const one = await call('POST', `${path}/1`, input)
    expect([one.status, one.headers.get('Allow')]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE'])
  })
})

describe('bad input is answered by its place and changes nothing', () => {
  const point = { x: 0.5, y: 0.5 }
  const lines = (...names: string[]) => ({ lines: names.map(name => ({ name, coords: [point, point] })) })
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
    ['POST', '/sources', { ...camera, address: { url: 'rtsp://a/', colour: 'red' } }, '/address/colour'],
    ['POST', '/sources', { ...camera, address: { url: 7 } }, '/address/url'],
    ['POST', '/sources', { ...camera, address: { url: 'http://a/' } }, '/address/url'],
    ['POST', '/sources', { type: 'file', address: '/etc/passwd' }, '/address'],
    ['POST', '/sources', { type: 'inf', address: 'file:///etc/passwd' }, '/address'],
    ['POST', '/sources', { ...camera, rate: 0 }, '/rate'],
    ['POST', '/sources', { ...camera, rate: 'fast' }, '/rate'],
    ['POST', '/sources', { ...camera, decoder: 'best' }, '/decoder'],
    ['POST', '/sources', { ...camera, id: 1 }, '/id'],
    ['POST', '/sources', { ...camera, 'a/b~c': 1 }, '/a~1b~0c'],
    ['POST', '/sinks', { type: 'file', address: 'file:///etc/x' }, '/address'],
    ['POST', '/sinks', { type: 'inf', address: 'nothing' }, '/address'],
    ['POST', '/sinks', { ...discard, filter: [1, 1] }, '/filter'],
    ['POST', '/sinks', { ...discard, filter: [-1] }, '/filter/0'],
    ['POST', '/pipelines', { elements: [] }, '/elements'],
    ['POST', '/pipelines', element('no-such-element'), '/elements/0/name'],
    ['POST', '/pipelines', element('line-crossing', { args: { ratio: 2 } }), '/elements/0/args/ratio'],
    ['POST', '/pipelines', element('line-crossing', { args: { speed: 2 } }), '/elements/0/args/speed'],
    [
      'POST',
      '/pipelines',
      element('line-crossing', { config: { '4711': lines('a') } }),
      '/elements/0/config/4711',
    ],
    ['POST', '/pipelines', element('line-crossing', { config: { door: lines('a') } }), '/elements/0/config'],
    ['POST', '/pipelines', element('infer', { args: { model: 'no-such-model' } }), '/elements/0/args/model'],
    ['POST', '/pipelines', element('infer'), '/elements/0/args/model'],
    ['POST', '/pipelines', element('infer', { hw: 'gpu' }), '/elements/0/hw'],
    ['POST', '/pipelines', element('image-resize', { args: { width: 640 } }), '/elements/0/args/height'],
    ['POST', '/pipelines', { elements, priority: 10 }, '/priority'],
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
  ])('%s %s with %j', async (method, path, body, place) => {
    const before = (await call('GET', '/configuration')).body
    const answer = await call(method, path, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    if (place) expect(answer.body.reason.startsWith(`${place}: `), answer.body.reason).toBe(true)
    expect((await call('GET', '/configuration')).body).toEqual(before)
  })

  test('with another type than JSON', async () => {
    const answer = await call('POST', '/sources', 'type=video', { 'Content-Type': 'text/plain' })
    expect([answer.status, answer.body.code]).toEqual([415, 'type'])
    const patch = await call('PUT', '/sources/1', {}, { 'Content-Type': 'application/merge-patch+json' })
    expect(patch.status).toBe(415)
  })

  test('with a body over 4 MiB', async () => {
    const answer = await call('POST', '/sources', { ...camera, address: `rtsp://${'a'.repeat(4 << 20)}/` })
    expect([answer.status, answer.body.code]).toEqual([413, 'size'])
  })

  test('at a path that does not exist', async () => {
    expect(await call('GET', '/cameras')).toMatchObject({ status: 404, body: { code: 'id' } })
  })
})

describe('activation and deployment', () => {
  test('go in this order', async () => {
    const early = await call('POST', '/configuration', [])
    expect([early.status, early.body.code]).toEqual([403, 'activation'])
    const invalid = await call('POST', '/activation', { ...communityLicense, pool: 'gold' })
    expect([invalid.status, invalid.body.code]).toEqual([400, 'license'])
    expect((await call('GET', '/activation')).body).toEqual({ activated: false })

    const activated = await call('POST', '/activation', communityLicense)
    expect([activated.status, activated.body]).toEqual([
      200,
      { activated: true, activated_at: expect.any(String), license: communityLicense },
    ])
    expect((await call('POST', '/activation', communityLicense)).body).toEqual(activated.body)

    const deployed = await call('POST', '/configuration', [
      { sources: [camera], sinks: [discard], elements, usecase: null },
    ])
    expect(deployed.status).toBe(200)
    const [source, sink, pipeline] = [
      deployed.body.sources[0],
      deployed.body.sinks[0],
      deployed.body.pipelines[0],
    ]
    expect(pipeline).toMatchObject({ elements, usecase: null, sources: [source.id], sinks: [sink.id] })
    expect(await call('GET', '/configuration')).toMatchObject({ status: 200, body: deployed.body })
  })
})

describe('references', () => {
  test('protect what is connected, and force removes it', async () => {
    const source = (await call('POST', '/sources', camera)).body.id
    const sink = (await call('POST', '/sinks', discard)).body.id
    const pipeline = (await call('POST', '/pipelines', { elements, sources: [source], sinks: [sink] })).body
      .id
    for (const path of [`/sources/${source}`, `/sinks/${sink}`])
      expect(await call('DELETE', path)).toMatchObject({
        status: 409,
        body: { code: 'reference', value: { pipelines: [pipeline] } },
      })
    expect(await call('DELETE', `/pipelines/${pipeline}`)).toMatchObject({
      status: 409,
      body: { code: 'reference', value: { sources: [source], sinks: [sink] } },
    })
    expect((await call('DELETE', `/sources/${source}?force=true`)).status).toBe(204)
    expect((await call('GET', `/pipelines/${pipeline}`)).body.sources).toEqual([])
    expect((await call('DELETE', `/pipelines/${pipeline}?force=1`)).status).toBe(204)
    expect((await call('DELETE', `/sinks/${sink}`)).status).toBe(204)
  })

  test('must exist', async () => {
    const answer = await call('POST', '/pipelines', { elements, sources: [4711] })
    expect(answer).toMatchObject({ status: 404, body: { code: 'id', value: { sources: [4711] } } })
  })

  test.each(['sources', 'sinks'])('of %s are made and ended all or nothing', async kind => {
    const id = (await call('POST', `/${kind}`, kind === 'sources' ? camera : discard)).body.id
    const pipeline = (await call('POST', '/pipelines', { elements })).body.id
    const one = `/pipelines/${pipeline}`
    const refusal = (ids: number[]) => ({
      status: 400,
      body: { code: 'id', value: { id: String(pipeline), [kind]: ids } },
    })

    expect(await call('POST', `${one}/connect-${kind}`, [id, 4711])).toMatchObject(refusal([4711]))
    expect(await call('POST', `${one}/disconnect-${kind}`, [id])).toMatchObject(refusal([id]))
    expect((await call('GET', one)).body[kind]).toEqual([])
    const connected = await call('POST', `${one}/connect-${kind}`, [id])
    expect([connected.status, connected.body[kind]]).toEqual([200, [id]])
    expect(await call('POST', `${one}/connect-${kind}`, [id])).toMatchObject(refusal([id]))
    expect((await call('POST', `${one}/disconnect-${kind}`, [id])).body[kind]).toEqual([])
    expect(await call('POST', `/pipelines/4711/connect-${kind}`, [id])).toMatchObject({ status: 404 })
  })
})

describe('what can be read', () => {
  test('of the catalog, in the parts that are asked for', async () => {
    const whole = (await call('GET', '/catalog')).body
    expect(Object.keys(whole).sort()).toEqual(['devices', 'elements', 'models'])
    expect((await call('GET', '/catalog?filter=elements&filter=devices')).body).toEqual({
      elements: whole.elements,
      devices: whole.devices,
    })
    expect((await call('GET', '/catalog?filter=elements,devices')).body).toEqual({
      elements: whole.elements,
      devices: whole.devices,
    })
    expect(whole.elements.map(({ name }: { name: string }) => name)).toContain('infer')
    expect((await call('GET', '/pipelines/elements?filter=elements')).body).toEqual({
      elements: whole.elements,
    })
    expect(Object.keys((await call('GET', '/catalog/models?filter=none')).body)).toEqual(['models'])
  })

  test('of channels: their properties, statistics and lines', async () => {
    const source = (await call('POST', '/sources', camera)).body.id
    const pipeline = (await call('POST', '/pipelines', { elements, sources: [source], usecase: 'counting' }))
      .body.id
    const { channels, streams } = (await call('GET', '/exports')).body
    const channel = channels.find((channel: { pipeline: number }) => channel.pipeline === pipeline)
    expect(channel).toEqual({ id: expect.any(Number), source, pipeline, stream: null })
    expect(streams).toEqual([])
    expect((await call('GET', '/exports?filter=streams')).body).toEqual({ streams: [] })

    const properties = await call(
      'GET',
      `/exports/channels/properties?ids=${channel.id}&props=source,usecase,fps`,
    )
    expect(properties.body).toEqual({ [channel.id]: { source, usecase: 'counting', fps: 0 } })
    expect(await call('GET', '/exports/channels/properties?ids=4711')).toMatchObject({
      status: 404,
      body: { code: 'id' },
    })
    expect(await call('GET', `/exports/channels/${channel.id}/static`)).toMatchObject({ status: 200 })
    expect(await call('GET', '/exports/channels/4711/static')).toMatchObject({
      status: 404,
      body: { code: 'id' },
    })

    const statistics = await call('GET', `/pipelines/${pipeline}/statistics`)
    expect(statistics.body).toMatchObject({ status: expect.any(String), fps: 0, latency: 0 })
    expect(await call('GET', '/pipelines/4711/statistics')).toMatchObject({ status: 404 })
  })
})

describe('the contract', () => {
  const routes = Object.values(routesC).flatMap(entry =>
    'method' in entry ? [entry] : Object.values(entry),
  ) as Route[]

  test.each(
    routes
      .filter(({ method, params }) => method === 'get' && !params)
      .map(route => [route.path, route] as const),
  )('describes what GET %s answers', async (path, route) => {
    const answer = await call('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ETag')).toMatch(/^".+"$/)
    expect(route.answer?.safeParse(answer.body).error).toBeUndefined()
  })

  test('describes every error', async () => {
    for (const path of ['/sources/4711', '/nothing', '/catalog?filter=x'])
      expect(errorBody.safeParse((await call('GET', path)).body).error).toBeUndefined()
  })

  test('is published as OpenAPI 3.1 with every operation, and shown without any other host', async () => {
    const document = (await call('GET', '/openapi.json')).body
    expect(document.openapi).toBe('3.1.0')
    for (const { method, path } of routes)
      expect(document.paths[path]?.[method], `${method} ${path}`).toBeDefined()
    const page = await (await engine.app.request('/docs')).text()
    expect(page).toContain('/api/v3/pipelines/{id}/connect-sources')
    expect(page).not.toMatch(/<script|src=|https?:\/\/(?!json-schema\.org)/)
  })
})
