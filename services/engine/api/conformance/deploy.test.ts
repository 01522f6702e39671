import { describe, expect } from 'vitest'
import { type Api, all, type Line, latest, prove, v1AndV2 } from '../../../../test/fixtures/conformance.ts'
import { camera, discard, elements, sharedEngine } from '../../../../test/fixtures/shared-engine.ts'

/** Deployment of a configuration, and the stored fields of resources. */

const callOf = sharedEngine()

const from = { x: 0, y: 0 }
const door = { lines: [{ name: 'door', coords: [from, { x: 1, y: 1 }] }] }
const other = { ...camera, rate: 2 }

const deploy = ({ call, key }: Api, ...objects: Record<string, unknown>[]) =>
  call(
    'POST',
    '/configuration',
    objects.map(({ elements: list = elements, ...rest }) => ({ [key]: list, ...rest })),
  )

const deployment: Line[] = [
  [
    'each object creates one pipeline with its sources and sinks; the response contains the ids',
    all,
    async api => {
      const { status, body } = await deploy(
        api,
        { sources: [camera], sinks: [discard] },
        { sources: [other], usecase: 'counting' },
      )
      expect(status).toBe(200)
      const [first, second] = body.sources.map(({ id }: { id: number }) => id)
      expect(body.pipelines).toMatchObject([
        { elements, sources: [first], sinks: [body.sinks[0].id] },
        { elements, sources: [second], sinks: [], usecase: 'counting' },
      ])
    },
  ],
  [
    'sinks may be omitted, and usecase may be null',
    all,
    async api => {
      const { body } = await deploy(api, { sources: [camera], usecase: null })
      expect([body.sinks, body.pipelines[0].usecase]).toEqual([[], null])
    },
  ],
  [
    'items of `pipeline` may be strings',
    v1AndV2,
    async api => {
      const { body } = await deploy(api, { sources: [camera], elements: ['object-tracking:7', elements[1]] })
      expect(body.pipelines[0].elements).toEqual([
        { name: 'object-tracking', args: { max_age: 7 } },
        elements[1],
      ])
    },
  ],
  [
    'equal sources and equal sinks of one body are merged',
    all,
    async api => {
      const { body } = await deploy(
        api,
        { sources: [camera], sinks: [discard] },
        { sources: [camera, other], sinks: [discard], elements: elements.slice(0, 1) },
      )
      expect([body.sources.length, body.sinks.length]).toEqual([2, 1])
      expect(body.pipelines[1].sources).toEqual(body.sources.map(({ id }: { id: number }) => id))
    },
  ],
  [
    'keys of a config are positions in `sources`, stored and returned as ids',
    all,
    async api => {
      const crossing = { name: 'line-crossing', config: { '0,1': door } }
      const { body } = await deploy(api, { sources: [camera, other], elements: [crossing] })
      const ids = body.sources.map(({ id }: { id: number }) => id).join(',')
      expect(body.pipelines[0].elements).toEqual([{ ...crossing, config: { [ids]: door } }])
    },
  ],
  [
    'a key that is not a position is rejected',
    all,
    async api => {
      const crossing = { name: 'line-crossing', config: { '1': door } }
      const { status, body } = await deploy(api, { sources: [camera], elements: [crossing] })
      expect([status, body.code]).toEqual([400, 'syntax'])
      expect(body.reason.startsWith(`/0/${api.key}/0/config/1`), body.reason).toBe(true)
    },
  ],
  [
    'an empty list clears the configuration',
    all,
    async api => {
      await deploy(api, { sources: [camera], sinks: [discard] })
      const empty = { sources: [], sinks: [], pipelines: [] }
      expect(await api.call('POST', '/configuration', [])).toMatchObject({ status: 200, body: empty })
    },
  ],
  [
    'objects equal to stored ones keep their ids and channels',
    all,
    async api => {
      const first = (await deploy(api, { sources: [camera], sinks: [discard] })).body
      const channels = (await api.call('GET', '/exports')).body.channels
      const second = (
        await deploy(api, { sources: [other] }, { sources: [camera], sinks: [discard], elements })
      ).body
      expect(second.sources).toContainEqual(first.sources[0])
      expect(second.pipelines).toContainEqual(first.pipelines[0])
      expect((await api.call('GET', '/exports')).body.channels).toContainEqual(channels[0])
    },
  ],
  [
    'it is replaced as a whole or not at all; the error is `syntax` without a value',
    all,
    async api => {
      const before = (await deploy(api, { sources: [camera] })).body
      const answer = await deploy(api, { sources: [other] }, { sources: [camera], elements: [{ name: 'x' }] })
      expect(answer.body).toEqual({ code: 'syntax', reason: expect.stringMatching(/^\/1\//) })
      expect((await api.call('GET', '/configuration')).body).toEqual(before)
    },
  ],
  [
    'the body is a list',
    all,
    async ({ call, key }) => {
      const answer = await call('POST', '/configuration', { sources: [camera], [key]: elements })
      expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    },
  ],
  [
    'the number of elements has the same limit as in other requests',
    all,
    async api => {
      const many = Array.from({ length: 101 }, () => elements[0])
      const answer = await deploy(api, { sources: [camera], elements: many })
      expect([answer.status, answer.body.reason]).toEqual([400, expect.stringMatching(`^/0/${api.key}: `)])
    },
  ],
  [
    'sinks have no id',
    all,
    async api => {
      const { body } = await deploy(api, { sources: [camera], sinks: [{ ...discard, id: 1 }] })
      expect(body.reason).toMatch(/^\/0\/sinks\/0\/id: /)
    },
  ],
  [
    'a source of a deployment may have a decoder and a pipeline a priority',
    latest,
    async api => {
      const { body } = await deploy(api, { sources: [{ ...camera, decoder: 'ffmpeg' }], priority: 9 })
      expect([body.sources[0].decoder, body.pipelines[0].priority]).toEqual(['ffmpeg', 9])
    },
  ],
]

const secret = { url: 'rtsp://camera/stream', username: 'user', password: 'sesame', token: 'xyzzy' }
const hidden = { ...secret, password: '***', token: '***' }

const storedFields: Line[] = [
  [
    'passwords and tokens are never returned',
    all,
    async ({ call }) => {
      const created = await call('POST', '/sources', { ...camera, address: secret })
      expect(created.body.address).toEqual(hidden)
      for (const path of [`/sources/${created.body.id}`, '/sources', '/configuration'])
        expect(JSON.stringify((await call('GET', path)).body)).not.toMatch(/sesame|xyzzy/)
    },
  ],
  [
    'secrets in the URL are never returned',
    all,
    async ({ call }) => {
      const { body } = await call('POST', '/sources', {
        ...camera,
        address: 'rtsp://user:word@camera/stream',
      })
      expect(body.address).toBe('rtsp://user:***@camera/stream')
    },
  ],
  [
    'sending *** back keeps the secret and changes nothing',
    all,
    async ({ call }) => {
      const created = await call('POST', '/sources', { ...camera, address: secret })
      const one = `/sources/${created.body.id}`
      const tag = (await call('GET', one)).headers.get('ETag')
      const back = await call('PUT', one, { ...camera, address: hidden })
      expect([back.status, back.headers.get('ETag')]).toEqual([200, tag])
      const changed = await call('PUT', one, { ...camera, address: { ...hidden, password: 'other' } })
      expect(changed.headers.get('ETag')).not.toBe(tag)
    },
  ],
  [
    'a priority is 0 to 9 and defaults to 5',
    latest,
    async ({ call }) => {
      const create = (more: object) => call('POST', '/pipelines', { elements, ...more })
      expect((await create({})).body.priority).toBe(5)
      for (const priority of [0, 9]) expect((await create({ priority })).body.priority).toBe(priority)
      for (const priority of [-1, 10, 1.5]) expect((await create({ priority })).body.code).toBe('syntax')
    },
  ],
]

describe('deployment', () => prove(callOf, deployment))
describe('resource', () => prove(callOf, storedFields))
