import { describe, expect } from 'vitest'
import {
  type ApiUnderTest,
  allRevisions,
  type Statement,
  testStatements,
  v1AndV2,
  v3Only,
} from '../../../../test/fixtures/engine/conformance.ts'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** Deployment of a configuration, and the stored fields of resources. */

const callOf = sharedEngine()

const from = { x: 0, y: 0 }
const door = { lines: [{ name: 'door', coords: [from, { x: 1, y: 1 }] }] }
const other = { ...cameraSource, rate: 2 }

const deploy = ({ call, key }: ApiUnderTest, ...objects: Record<string, unknown>[]) =>
  call(
    'POST',
    '/configuration',
    objects.map(({ elements: list = countingElements, ...rest }) => ({ [key]: list, ...rest })),
  )

const deployment: Statement[] = [
  [
    'each object creates one pipeline with its sources and sinks; the response contains the ids',
    allRevisions,
    async api => {
      const { status, body } = await deploy(
        api,
        { sources: [cameraSource], sinks: [discardSink] },
        { sources: [other], usecase: 'counting' },
      )
      expect(status).toBe(200)
      const [first, second] = body.sources.map(({ id }: { id: number }) => id)
      expect(body.pipelines).toMatchObject([
        { elements: countingElements, sources: [first], sinks: [body.sinks[0].id] },
        { elements: countingElements, sources: [second], sinks: [], usecase: 'counting' },
      ])
    },
  ],
  [
    'sinks may be omitted, and usecase may be null',
    allRevisions,
    async api => {
      const { body } = await deploy(api, { sources: [cameraSource], usecase: null })
      expect([body.sinks, body.pipelines[0].usecase]).toEqual([[], null])
    },
  ],
  [
    'items of `pipeline` may be strings',
    v1AndV2,
    async api => {
      const { body } = await deploy(api, {
        sources: [cameraSource],
        elements: ['object-tracking:7', countingElements[1]],
      })
      expect(body.pipelines[0].elements).toEqual([
        { name: 'object-tracking', args: { max_age: 7 } },
        countingElements[1],
      ])
    },
  ],
  [
    'equal sources and equal sinks of one body are merged',
    allRevisions,
    async api => {
      const { body } = await deploy(
        api,
        { sources: [cameraSource], sinks: [discardSink] },
        {
          sources: [cameraSource, other],
          sinks: [discardSink],
          elements: countingElements.slice(0, 1),
        },
      )
      expect([body.sources.length, body.sinks.length]).toEqual([2, 1])
      expect(body.pipelines[1].sources).toEqual(body.sources.map(({ id }: { id: number }) => id))
    },
  ],
  [
    'keys of a config are positions in `sources`, stored and returned as ids',
    allRevisions,
    async api => {
      const crossing = { name: 'line-crossing', config: { '0,1': door } }
      const { body } = await deploy(api, { sources: [cameraSource, other], elements: [crossing] })
      const ids = body.sources.map(({ id }: { id: number }) => id).join(',')
      expect(body.pipelines[0].elements).toEqual([{ ...crossing, config: { [ids]: door } }])
    },
  ],
  [
    'a key that is not a position is rejected',
    allRevisions,
    async api => {
      for (const key of ['1', '', ' ', 'door', '0,', '-1']) {
        const crossing = { name: 'line-crossing', config: { [key]: door } }
        const { status, body } = await deploy(api, {
          sources: [cameraSource],
          elements: [crossing],
        })
        expect([status, body.code]).toEqual([400, 'syntax'])
        const place = `/0/${api.key}/0/config/${key}: `
        const problem =
          key === '1' ? 'source 1 does not exist: ' : `"${key}" does not name a source: `
        expect(body.reason.startsWith(place + problem), body.reason).toBe(true)
      }
    },
  ],
  [
    'a key that is not the id of a source is rejected when a pipeline is created or changed',
    allRevisions,
    async api => {
      const { body: source } = await api.call('POST', '/sources', cameraSource)
      const elementsOf = (key: string) => [{ name: 'line-crossing', config: { [key]: door } }]
      const created = await api.call('POST', '/pipelines', {
        elements: elementsOf(String(source.id)),
      })
      expect(created.status).toBe(201)
      for (const key of ['', 'door', `${source.id},`, '99999']) {
        const body = { elements: elementsOf(key) }
        for (const answer of [
          await api.call('POST', '/pipelines', body),
          await api.call('PUT', `/pipelines/${created.body.id}`, body),
          await api.call('PATCH', `/pipelines/${created.body.id}`, body),
        ]) {
          expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
          const problem =
            key === '99999' ? 'source 99999 does not exist: ' : `"${key}" does not name a source: `
          const place = `/elements/0/config/${key}: `
          expect(answer.body.reason.startsWith(place + problem), answer.body.reason).toBe(true)
        }
      }
    },
  ],
  [
    'an empty list clears the configuration',
    allRevisions,
    async api => {
      await deploy(api, { sources: [cameraSource], sinks: [discardSink] })
      const empty = { sources: [], sinks: [], pipelines: [] }
      expect(await api.call('POST', '/configuration', [])).toMatchObject({
        status: 200,
        body: empty,
      })
    },
  ],
  [
    'objects equal to stored ones keep their ids and channels',
    allRevisions,
    async api => {
      const first = (await deploy(api, { sources: [cameraSource], sinks: [discardSink] })).body
      const channels = (await api.call('GET', '/exports')).body.channels
      const second = (
        await deploy(
          api,
          { sources: [other] },
          { sources: [cameraSource], sinks: [discardSink], elements: countingElements },
        )
      ).body
      expect(second.sources).toContainEqual(first.sources[0])
      expect(second.pipelines).toContainEqual(first.pipelines[0])
      expect((await api.call('GET', '/exports')).body.channels).toContainEqual(channels[0])
    },
  ],
  [
    'it is replaced as a whole or not at all; the error is `syntax` without a value',
    allRevisions,
    async api => {
      const before = (await deploy(api, { sources: [cameraSource] })).body
      const answer = await deploy(
        api,
        { sources: [other] },
        { sources: [cameraSource], elements: [{ name: 'x' }] },
      )
      expect(answer.body).toEqual({ code: 'syntax', reason: expect.stringMatching(/^\/1\//) })
      expect((await api.call('GET', '/configuration')).body).toEqual(before)
    },
  ],
  [
    'the body is a list',
    allRevisions,
    async ({ call, key }) => {
      const answer = await call('POST', '/configuration', {
        sources: [cameraSource],
        [key]: countingElements,
      })
      expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    },
  ],
  [
    'the number of elements has the same limit as in other requests',
    allRevisions,
    async api => {
      const many = Array.from({ length: 101 }, () => countingElements[0])
      const answer = await deploy(api, { sources: [cameraSource], elements: many })
      expect([answer.status, answer.body.reason]).toEqual([
        400,
        expect.stringMatching(`^/0/${api.key}: `),
      ])
    },
  ],
  [
    'sinks have no id',
    allRevisions,
    async api => {
      const { body } = await deploy(api, {
        sources: [cameraSource],
        sinks: [{ ...discardSink, id: 1 }],
      })
      expect(body.reason).toMatch(/^\/0\/sinks\/0\/id: /)
    },
  ],
  [
    'a source of a deployment may have a decoder and a pipeline a priority',
    v3Only,
    async api => {
      const { body } = await deploy(api, {
        sources: [{ ...cameraSource, decoder: 'ffmpeg' }],
        priority: 9,
      })
      expect([body.sources[0].decoder, body.pipelines[0].priority]).toEqual(['ffmpeg', 9])
    },
  ],
]

const secret = { url: 'rtsp://camera/stream', username: 'user', password: 'sesame', token: 'xyzzy' }
const hidden = { ...secret, password: '***', token: '***' }

const storedFields: Statement[] = [
  [
    'passwords and tokens are never returned',
    allRevisions,
    async ({ call }) => {
      const created = await call('POST', '/sources', { ...cameraSource, address: secret })
      expect(created.body.address).toEqual(hidden)
      for (const path of [`/sources/${created.body.id}`, '/sources', '/configuration']) {
        expect(JSON.stringify((await call('GET', path)).body)).not.toMatch(/sesame|xyzzy/)
      }
    },
  ],
  [
    'secrets in the URL are never returned',
    allRevisions,
    async ({ call }) => {
      const { body } = await call('POST', '/sources', {
        ...cameraSource,
        address: 'rtsp://user:word@camera/stream',
      })
      expect(body.address).toBe('rtsp://user:***@camera/stream')
    },
  ],
  [
    'sending *** back keeps the secret and changes nothing',
    allRevisions,
    async ({ call }) => {
      const created = await call('POST', '/sources', { ...cameraSource, address: secret })
      const one = `/sources/${created.body.id}`
      const tag = (await call('GET', one)).headers.get('ETag')
      const back = await call('PUT', one, { ...cameraSource, address: hidden })
      expect([back.status, back.headers.get('ETag')]).toEqual([200, tag])
      const changed = await call('PUT', one, {
        ...cameraSource,
        address: { ...hidden, password: 'other' },
      })
      expect(changed.headers.get('ETag')).not.toBe(tag)
    },
  ],
  [
    'a priority is 0 to 9 and defaults to 5',
    v3Only,
    async ({ call }) => {
      const create = (more: object) =>
        call('POST', '/pipelines', { elements: countingElements, ...more })
      expect((await create({})).body.priority).toBe(5)
      for (const priority of [0, 9]) {
        expect((await create({ priority })).body.priority).toBe(priority)
      }
      for (const priority of [-1, 10, 1.5]) {
        expect((await create({ priority })).body.code).toBe('syntax')
      }
    },
  ],
]

describe('deployment', () => testStatements(callOf, deployment))
describe('resource', () => testStatements(callOf, storedFields))
