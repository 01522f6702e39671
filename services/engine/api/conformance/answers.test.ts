import { describe, expect } from 'vitest'
import { type Api, activated, all, type Line, latest, prove } from '../../../../test/fixtures/conformance.ts'
import { camera, discard, elements, sharedEngine } from '../../../../test/fixtures/shared-engine.ts'

/** How every request is read and answered, whichever resource it is about. */

const callOf = sharedEngine()

const kinds = [
  { path: '/sources', input: camera, patch: { rate: 5 }, reset: { rate: null }, without: 'rate' },
  { path: '/sinks', input: discard, patch: { filter: [3] }, reset: { filter: null }, without: 'filter' },
  {
    path: '/pipelines',
    input: { elements },
    patch: { usecase: 'counting' },
    reset: { usecase: null },
    without: 'usecase',
  },
]

const resources = ({ path, input, patch, reset, without }: (typeof kinds)[number]): Line[] => [
  [
    'POST creates: 201 and Location',
    all,
    async ({ call, revision }) => {
      const answer = await call('POST', path, input)
      expect(answer).toMatchObject({ status: 201, body: input })
      expect(answer.headers.get('Location')).toBe(`/api/${revision}${path}/${answer.body.id}`)
    },
  ],
  [
    'PUT replaces: what is left out is gone',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, { ...input, ...patch })}`
      const plain = (await call('POST', path, input)).body[without]
      const answer = await call('PUT', one, input)
      expect([answer.status, answer.body[without]]).toEqual([200, plain])
    },
  ],
  [
    'PATCH changes in part: what is left out stays (RFC 7386)',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, { ...input, ...patch })}`
      expect(await call('PATCH', one, {})).toMatchObject({ status: 200, body: { ...input, ...patch } })
    },
  ],
  [
    'PATCH removes by null (RFC 7386)',
    all,
    async ({ call, create }) => {
      const plain = (await call('POST', path, input)).body[without]
      const one = `${path}/${await create(path, { ...input, ...patch })}`
      const { status, body } = await call('PATCH', one, reset)
      expect([status, body[without] ?? undefined]).toEqual([200, plain])
    },
  ],
  [
    'PATCH takes application/merge-patch+json and application/json',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      for (const type of ['application/merge-patch+json', 'application/json'])
        expect((await call('PATCH', one, patch, { 'Content-Type': type })).status).toBe(200)
    },
  ],
  [
    'GET retrieves, with an ETag',
    all,
    async ({ call, create }) => {
      const answer = await call('GET', `${path}/${await create(path, input)}`)
      expect(answer).toMatchObject({ status: 200, body: input })
      expect(answer.headers.get('ETag')).toMatch(/^"[^"]+"$/)
    },
  ],
  [
    'DELETE deletes: 204',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      expect(await call('DELETE', one)).toMatchObject({ status: 204, body: '' })
      expect(await call('GET', one)).toMatchObject({ status: 404, body: { code: 'id' } })
    },
  ],
  [
    'If-Match is honoured: 412 once it has changed',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      const tag = (await call('GET', one)).headers.get('ETag')!
      expect((await call('PATCH', one, patch, { 'If-Match': tag })).status).toBe(200)
      for (const [method, body] of [
        ['PUT', input],
        ['PATCH', patch],
        ['DELETE', undefined],
      ] as const)
        expect(await call(method, one, body, { 'If-Match': tag })).toMatchObject({
          status: 412,
          body: { code: 'precondition' },
        })
    },
  ],
  [
    'create with return=minimal answers the id alone',
    all,
    async ({ call }) => {
      const answer = await call('POST', path, input, { Prefer: 'return=minimal' })
      expect([answer.status, answer.body]).toEqual([201, { id: expect.any(Number) }])
      expect(answer.headers.get('Preference-Applied')).toBe('return=minimal')
    },
  ],
  [
    'update and modify with return=minimal answer 204',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      for (const [method, body] of [
        ['PUT', input],
        ['PATCH', patch],
      ] as const) {
        const answer = await call(method, one, body, { Prefer: 'return=minimal' })
        expect([answer.status, answer.body]).toEqual([204, ''])
        expect(answer.headers.get('Preference-Applied')).toBe('return=minimal')
      }
    },
  ],
  [
    'return=representation is the default',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      const asked = await call('PATCH', one, patch, { Prefer: 'return=representation' })
      expect(asked.headers.get('Preference-Applied')).toBe('return=representation')
      const plain = await call('PATCH', one, patch)
      expect(plain.headers.get('Preference-Applied')).toBeNull()
      expect(plain.body).toEqual(asked.body)
    },
  ],
  [
    'an id in a PUT or PATCH body is accepted if it equals that of the path',
    all,
    async ({ call, create }) => {
      const id = await create(path, input)
      for (const method of ['PUT', 'PATCH']) {
        expect((await call(method, `${path}/${id}`, { ...input, id })).status).toBe(200)
        const other = await call(method, `${path}/${id}`, { ...input, id: id + 1 })
        expect([other.status, other.body.code]).toEqual([400, 'syntax'])
        expect(other.body.reason).toMatch(/^\/id: /)
      }
    },
  ],
  [
    'unknown fields are refused by their name',
    all,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      for (const [method, at] of [
        ['POST', path],
        ['PUT', one],
        ['PATCH', one],
      ] as const) {
        const answer = await call(method, at, { ...input, colour: 'red' })
        expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
        expect(answer.body.reason).toMatch(/^\/colour: /)
      }
    },
  ],
  [
    'an id in the path that is no int32 from 0 on is `id`',
    all,
    async ({ call }) => {
      for (const id of ['-1', '2147483648', '1.5', 'one', '4711'])
        expect(await call('GET', `${path}/${id}`)).toMatchObject({ status: 404, body: { code: 'id' } })
    },
  ],
  [
    'a wrong method is 405 with Allow',
    all,
    async ({ call }) => {
      const answer = await call('DELETE', path)
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD, POST'])
      const one = await call('POST', `${path}/1`, input)
      expect([one.status, one.headers.get('Allow')]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE'])
    },
  ],
]

const wrongQuery = async ({ call }: Api, path: string, place: string) => {
  const answer = await call('GET', path)
  expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
  expect(answer.body.reason.startsWith(`?/${place}`), answer.body.reason).toBe(true)
}

const requests: Line[] = [
  [
    'array queries accept repetition and commas',
    all,
    async ({ call }) => {
      const both = { streams: [], channels: [] }
      for (const query of ['', '?filter=streams&filter=channels', '?filter=streams,channels'])
        expect((await call('GET', `/exports${query}`)).body).toEqual(both)
      expect((await call('GET', '/exports?filter=channels')).body).toEqual({ channels: [] })
    },
  ],
  [
    'a bad query value is `syntax` too',
    all,
    async api => {
      await wrongQuery(api, '/exports?filter=all', 'filter')
      await wrongQuery(api, '/exports/channels/properties?props=colour', 'props')
      await wrongQuery(api, '/exports/channels/properties?ids=-1', 'ids')
      await wrongQuery(api, '/exports/channels/properties?format=svg', 'format')
      await wrongQuery(api, '/exports/channels/1/static?format=svg', 'format')
    },
  ],
  [
    'JSON only: 415 otherwise',
    all,
    async ({ call }) => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/merge-patch+json'])
        expect(await call('POST', '/sources', 'type=video', { 'Content-Type': type })).toMatchObject({
          status: 415,
          body: { code: 'type' },
        })
    },
  ],
  [
    'malformed JSON is `syntax`',
    all,
    async ({ call }) => {
      const answer = await call('POST', '/sources', '{"type":')
      expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    },
  ],
  [
    'a body over 4 MiB is 413',
    all,
    async ({ call }) => {
      const answer = await call('POST', '/sources', { ...camera, address: 'a'.repeat(4 << 20) })
      expect([answer.status, answer.body.code]).toEqual([413, 'size'])
    },
  ],
  [
    'an error is code and reason, and value only where there is one',
    all,
    async ({ call }) => {
      const { body } = await call('POST', '/sources', {})
      expect(body).toEqual({ code: 'syntax', reason: expect.any(String) })
      const unknown = await call('POST', '/pipelines', { elements, sources: [4711] })
      expect(unknown).toMatchObject({
        status: 404,
        body: { code: 'id', reason: expect.any(String), value: { sources: [4711] } },
      })
    },
  ],
  [
    'the OpenAPI 3.1 document of the revision is under its base',
    all,
    async ({ call, revision }) => {
      const { status, body } = await call('GET', '/openapi.json')
      expect([status, body.openapi, body.servers]).toEqual([200, '3.1.0', [{ url: `/api/${revision}` }]])
    },
  ],
  [
    'what there is no path for is 404',
    all,
    async ({ call }) =>
      expect(await call('GET', '/cameras')).toMatchObject({ status: 404, body: { code: 'id' } }),
  ],
]

/** A pipeline with two sources and a sink that is for the first alone. */
async function connected({ create }: Api) {
  const [source, other] = [await create('/sources', camera), await create('/sources', { ...camera, rate: 1 })]
  const sink = await create('/sinks', { ...discard, filter: [source] })
  const pipeline = await create('/pipelines', { elements, sources: [source, other], sinks: [sink] })
  return { source, other, sink, pipeline }
}

const references: Line[] = [
  [
    'force is false by default',
    all,
    async api => {
      const { source } = await connected(api)
      expect((await api.call('DELETE', `/sources/${source}?force=false`)).status).toBe(409)
      expect((await api.call('DELETE', `/sources/${source}`)).status).toBe(409)
    },
  ],
  [
    'with force the id of a source is removed from every pipeline',
    all,
    async api => {
      const { source, other, pipeline } = await connected(api)
      expect((await api.call('DELETE', `/sources/${source}?force=true`)).status).toBe(204)
      expect((await api.call('GET', `/pipelines/${pipeline}`)).body.sources).toEqual([other])
    },
  ],
  [
    'and from the filters of sinks; a sink whose filter would become empty by that is disconnected',
    all,
    async api => {
      const { source, other, sink, pipeline } = await connected(api)
      const both = await api.create('/sinks', { ...discard, filter: [source, other] })
      await api.call('POST', `/pipelines/${pipeline}/connect-sinks`, [both])
      await api.call('DELETE', `/sources/${source}?force=true`)
      expect((await api.call('GET', `/sinks/${both}`)).body.filter).toEqual([other])
      expect((await api.call('GET', `/pipelines/${pipeline}`)).body.sinks).toEqual([both])
      expect((await api.call('GET', `/sinks/${sink}`)).body.filter).toEqual([])
    },
  ],
  [
    'with force the id of a sink is removed from every pipeline',
    all,
    async api => {
      const { sink, pipeline } = await connected(api)
      expect((await api.call('DELETE', `/sinks/${sink}?force=true`)).status).toBe(204)
      expect((await api.call('GET', `/pipelines/${pipeline}`)).body.sinks).toEqual([])
    },
  ],
  [
    'with force a pipeline is deleted although it is connected; its sources and sinks stay',
    all,
    async api => {
      const { source, sink, pipeline } = await connected(api)
      expect((await api.call('DELETE', `/pipelines/${pipeline}?force=true`)).status).toBe(204)
      expect((await api.call('GET', `/sources/${source}`)).status).toBe(200)
      expect((await api.call('GET', `/sinks/${sink}`)).status).toBe(200)
    },
  ],
  [
    'ids are never reused',
    all,
    async ({ call, create }) => {
      for (const { path, input } of kinds) {
        const id = await create(path, input)
        await call('DELETE', `${path}/${id}`)
        await call('POST', '/configuration', [])
        expect(await create(path, input)).toBeGreaterThan(id)
      }
    },
  ],
]

const statistics: Line[] = [
  [
    'the statistics of a pipeline are status, fps and latency; without a source it is idle',
    activated,
    async ({ call, create }) => {
      const id = await create('/pipelines', { elements })
      const { body } = await call('GET', `/pipelines/${id}/statistics`)
      expect(body).toMatchObject({ status: 'idle', fps: 0, latency: 0 })
    },
  ],
  [
    'the statistics of a pipeline that does not exist are 404',
    activated,
    async ({ call }) =>
      expect(await call('GET', '/pipelines/4711/statistics')).toMatchObject({
        status: 404,
        body: { code: 'id' },
      }),
  ],
  [
    'a modification in C needs neither type nor address',
    latest,
    async ({ call, create }) => {
      const id = await create('/sources', camera)
      const answer = await call('PATCH', `/sources/${id}`, { decoder: 'gst' })
      expect(answer).toMatchObject({ status: 200, body: { ...camera, decoder: 'gst' } })
    },
  ],
]

describe.each(kinds)('$path', kind => prove(callOf, resources(kind)))
describe('a request', () => prove(callOf, requests))
describe('what is referred to', () => prove(callOf, references))
describe('an operation', () => prove(callOf, statistics))
