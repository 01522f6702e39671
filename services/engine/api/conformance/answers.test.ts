import { describe, expect } from 'vitest'
import {
  type ApiUnderTest,
  allRevisions,
  type Statement,
  testStatements,
  v2AndV3,
  v3Only,
} from '../../../../test/fixtures/engine/conformance.ts'
import {
  cameraSource,
  countingElements,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** Rules of all requests and responses. */

const callOf = sharedEngine()

const wrongQuery = async ({ call }: ApiUnderTest, path: string, place: string) => {
  const answer = await call('GET', path)
  expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
  expect(answer.body.reason.startsWith(`?/${place}`), answer.body.reason).toBe(true)
}

const requests: Statement[] = [
  [
    'array queries accept repetition and commas',
    allRevisions,
    async ({ call }) => {
      const both = { streams: [], channels: [] }
      for (const query of ['', '?filter=streams&filter=channels', '?filter=streams,channels']) {
        expect((await call('GET', `/exports${query}`)).body).toEqual(both)
      }
      expect((await call('GET', '/exports?filter=channels')).body).toEqual({ channels: [] })
    },
  ],
  [
    'an invalid query value is `syntax`',
    allRevisions,
    async api => {
      await wrongQuery(api, '/exports?filter=all', 'filter')
      await wrongQuery(api, '/exports/channels/properties?props=colour', 'props')
      await wrongQuery(api, '/exports/channels/properties?ids=-1', 'ids')
      await wrongQuery(api, '/exports/channels/properties?format=svg', 'format')
      await wrongQuery(api, '/exports/channels/1/static?format=svg', 'format')
    },
  ],
  [
    'a body that is not JSON is 415',
    allRevisions,
    async ({ call }) => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/merge-patch+json',
      ]) {
        expect(
          await call('POST', '/sources', 'type=video', { 'Content-Type': type }),
        ).toMatchObject({
          status: 415,
          body: { code: 'type' },
        })
      }
    },
  ],
  [
    'malformed JSON is `syntax`',
    allRevisions,
    async ({ call }) => {
      const answer = await call('POST', '/sources', '{"type":')
      expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    },
  ],
  [
    'a body over 4 MiB is 413',
    allRevisions,
    async ({ call }) => {
      const answer = await call('POST', '/sources', {
        ...cameraSource,
        address: 'a'.repeat(4 << 20),
      })
      expect([answer.status, answer.body.code]).toEqual([413, 'size'])
    },
  ],
  [
    'an error has code and reason, and an optional value',
    allRevisions,
    async ({ call }) => {
      const { body } = await call('POST', '/sources', {})
      expect(body).toEqual({ code: 'syntax', reason: expect.any(String) })
      const unknown = await call('POST', '/pipelines', {
        elements: countingElements,
        sources: [4711],
      })
      expect(unknown).toMatchObject({
        status: 404,
        body: { code: 'id', reason: expect.any(String), value: { sources: [4711] } },
      })
    },
  ],
  [
    'the OpenAPI 3.1 document is served below the base path of the revision',
    allRevisions,
    async ({ call, revision }) => {
      const { status, body } = await call('GET', '/openapi.json')
      expect([status, body.openapi, body.servers]).toEqual([
        200,
        '3.1.0',
        [{ url: `/api/${revision}` }],
      ])
    },
  ],
  [
    'a wrong method is 405 with Allow on all paths',
    allRevisions,
    async ({ call, revision }) => {
      const one = revision === 'v3' ? [`/pictures/${'0'.repeat(64)}`] : []
      for (const path of [
        '/configuration',
        '/exports',
        '/statistics',
        '/output',
        '/openapi.json',
        ...one,
      ]) {
        const answer = await call('DELETE', path)
        expect([path, answer.status, answer.body.code]).toEqual([path, 405, 'method'])
        expect(answer.headers.get('Allow')).toMatch(/^GET, HEAD/)
      }
    },
  ],
  [
    'an unknown path is 404',
    allRevisions,
    async ({ call }) =>
      expect(await call('GET', '/cameras')).toMatchObject({ status: 404, body: { code: 'id' } }),
  ],
]

const statistics: Statement[] = [
  [
    'the statistics of a pipeline are status, fps and latency; a pipeline without sources is idle',
    v2AndV3,
    async ({ call, create }) => {
      const id = await create('/pipelines', { elements: countingElements })
      const { body } = await call('GET', `/pipelines/${id}/statistics`)
      expect(body).toMatchObject({ status: 'idle', fps: 0, latency: 0 })
    },
  ],
  [
    'the status of a pipeline is idle, starting, running, degraded, failed or stopped',
    v2AndV3,
    async ({ call }) => {
      const { components } = (await call('GET', '/openapi.json')).body
      const { properties, required } = components.schemas.PipelineStatistics
      expect(properties.status.enum).toEqual([
        'idle',
        'starting',
        'running',
        'degraded',
        'failed',
        'stopped',
      ])
      expect(required).toEqual(['status', 'fps', 'latency'])
    },
  ],
  [
    'a pipeline with an unreachable source waits and causes no error',
    v2AndV3,
    async ({ call, create }) => {
      const source = await create('/sources', cameraSource)
      const id = await create('/pipelines', { elements: countingElements, sources: [source] })
      const { status, body } = await call('GET', `/pipelines/${id}/statistics`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ fps: 0, latency: 0 })
      expect(['starting', 'degraded']).toContain(body.status)
    },
  ],
  [
    'the statistics of an unknown pipeline are 404',
    v2AndV3,
    async ({ call }) =>
      expect(await call('GET', '/pipelines/4711/statistics')).toMatchObject({
        status: 404,
        body: { code: 'id' },
      }),
  ],
  [
    'a modification in v3 requires neither type nor address',
    v3Only,
    async ({ call, create }) => {
      const id = await create('/sources', cameraSource)
      const answer = await call('PATCH', `/sources/${id}`, { decoder: 'gst' })
      expect(answer).toMatchObject({ status: 200, body: { ...cameraSource, decoder: 'gst' } })
    },
  ],
]

describe('a request', () => testStatements(callOf, requests))
describe('an operation', () => testStatements(callOf, statistics))
