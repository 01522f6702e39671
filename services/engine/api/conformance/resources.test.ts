import { describe, expect } from 'vitest'
import {
  allRevisions,
  type Statement,
  testStatements,
} from '../../../../test/fixtures/engine/conformance.ts'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** Common behaviour of sources, sinks and pipelines. */

const callOf = sharedEngine()

const kinds = [
  {
    path: '/sources',
    input: cameraSource,
    patch: { rate: 5 },
    reset: { rate: null },
    without: 'rate',
  },
  {
    path: '/sinks',
    input: discardSink,
    patch: { filter: [3] },
    reset: { filter: null },
    without: 'filter',
  },
  {
    path: '/pipelines',
    input: { elements: countingElements },
    patch: { usecase: 'counting' },
    reset: { usecase: null },
    without: 'usecase',
  },
]

const resources = ({ path, input, patch, reset, without }: (typeof kinds)[number]): Statement[] => [
  [
    'POST creates: 201 and Location',
    allRevisions,
    async ({ call, revision }) => {
      const answer = await call('POST', path, input)
      expect(answer).toMatchObject({ status: 201, body: input })
      expect(answer.headers.get('Location')).toBe(`/api/${revision}${path}/${answer.body.id}`)
    },
  ],
  [
    'PUT replaces: omitted fields are deleted',
    allRevisions,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, { ...input, ...patch })}`
      const plain = (await call('POST', path, input)).body[without]
      const answer = await call('PUT', one, input)
      expect([answer.status, answer.body[without]]).toEqual([200, plain])
    },
  ],
  [
    'PATCH merges: omitted fields are unchanged (RFC 7386)',
    allRevisions,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, { ...input, ...patch })}`
      expect(await call('PATCH', one, {})).toMatchObject({
        status: 200,
        body: { ...input, ...patch },
      })
    },
  ],
  [
    'PATCH deletes fields that are null (RFC 7386)',
    allRevisions,
    async ({ call, create }) => {
      const plain = (await call('POST', path, input)).body[without]
      const one = `${path}/${await create(path, { ...input, ...patch })}`
      const { status, body } = await call('PATCH', one, reset)
      expect([status, body[without] ?? undefined]).toEqual([200, plain])
    },
  ],
  [
    'PATCH accepts application/merge-patch+json and application/json',
    allRevisions,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      for (const type of ['application/merge-patch+json', 'application/json']) {
        expect((await call('PATCH', one, patch, { 'Content-Type': type })).status).toBe(200)
      }
    },
  ],
  [
    'GET retrieves, with an ETag',
    allRevisions,
    async ({ call, create }) => {
      const answer = await call('GET', `${path}/${await create(path, input)}`)
      expect(answer).toMatchObject({ status: 200, body: input })
      expect(answer.headers.get('ETag')).toMatch(/^"[^"]+"$/)
    },
  ],
  [
    'DELETE deletes: 204',
    allRevisions,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      expect(await call('DELETE', one)).toMatchObject({ status: 204, body: '' })
      expect(await call('GET', one)).toMatchObject({ status: 404, body: { code: 'id' } })
    },
  ],
  [
    'If-Match is honoured: 412 after a change',
    allRevisions,
    async ({ call, create }) => {
      const one = `${path}/${await create(path, input)}`
      const tag = (await call('GET', one)).headers.get('ETag')!
      expect((await call('PATCH', one, patch, { 'If-Match': tag })).status).toBe(200)
      for (const [method, body] of [
        ['PUT', input],
        ['PATCH', patch],
        ['DELETE', undefined],
      ] as const) {
        expect(await call(method, one, body, { 'If-Match': tag })).toMatchObject({
          status: 412,
          body: { code: 'precondition' },
        })
      }
    },
  ],
  [
    'create with return=minimal returns only the id',
    allRevisions,
    async ({ call }) => {
      const answer = await call('POST', path, input, { Prefer: 'return=minimal' })
      expect([answer.status, answer.body]).toEqual([201, { id: expect.any(Number) }])
      expect(answer.headers.get('Preference-Applied')).toBe('return=minimal')
    },
  ],
  [
    'update and modify with return=minimal answer 204',
    allRevisions,
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
    allRevisions,
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
    allRevisions,
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
    'unknown fields are rejected by name',
    allRevisions,
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
    'an id in the path that is not a non-negative int32 is `id`',
    allRevisions,
    async ({ call }) => {
      for (const id of ['-1', '2147483648', '1.5', 'one', '4711']) {
        expect(await call('GET', `${path}/${id}`)).toMatchObject({
          status: 404,
          body: { code: 'id' },
        })
      }
    },
  ],
  [
    'a wrong method is 405 with Allow',
    allRevisions,
    async ({ call }) => {
      const answer = await call('DELETE', path)
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD, POST'])
      const one = await call('POST', `${path}/1`, input)
      expect([one.status, one.headers.get('Allow')]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE'])
    },
  ],
]

describe.each(kinds)('$path', kind => testStatements(callOf, resources(kind)))
