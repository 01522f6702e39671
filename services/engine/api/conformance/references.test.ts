import { describe, expect } from 'vitest'
import {
  type ApiUnderTest,
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

/** References to deleted resources. */

const callOf = sharedEngine()

/** Creates a pipeline with two sources and a sink that accepts only the first one. */
async function connected({ create }: ApiUnderTest) {
  const [source, other] = [
    await create('/sources', cameraSource),
    await create('/sources', { ...cameraSource, rate: 1 }),
  ]
  const sink = await create('/sinks', { ...discardSink, filter: [source] })
  const pipeline = await create('/pipelines', {
    elements: countingElements,
    sources: [source, other],
    sinks: [sink],
  })
  return { source, other, sink, pipeline }
}

const references: Statement[] = [
  [
    'force is false by default',
    allRevisions,
    async api => {
      const { source } = await connected(api)
      expect((await api.call('DELETE', `/sources/${source}?force=false`)).status).toBe(409)
      expect((await api.call('DELETE', `/sources/${source}`)).status).toBe(409)
    },
  ],
  [
    'with force the id of a source is removed from every pipeline',
    allRevisions,
    async api => {
      const { source, other, pipeline } = await connected(api)
      expect((await api.call('DELETE', `/sources/${source}?force=true`)).status).toBe(204)
      expect((await api.call('GET', `/pipelines/${pipeline}`)).body.sources).toEqual([other])
    },
  ],
  [
    'with force it is removed from filters too; a sink whose filter becomes empty is disconnected',
    allRevisions,
    async api => {
      const { source, other, sink, pipeline } = await connected(api)
      const both = await api.create('/sinks', { ...discardSink, filter: [source, other] })
      await api.call('POST', `/pipelines/${pipeline}/connect-sinks`, [both])
      await api.call('DELETE', `/sources/${source}?force=true`)
      expect((await api.call('GET', `/sinks/${both}`)).body.filter).toEqual([other])
      expect((await api.call('GET', `/pipelines/${pipeline}`)).body.sinks).toEqual([both])
      expect((await api.call('GET', `/sinks/${sink}`)).body.filter).toEqual([])
    },
  ],
  [
    'with force the id of a sink is removed from every pipeline',
    allRevisions,
    async api => {
      const { sink, pipeline } = await connected(api)
      expect((await api.call('DELETE', `/sinks/${sink}?force=true`)).status).toBe(204)
      expect((await api.call('GET', `/pipelines/${pipeline}`)).body.sinks).toEqual([])
    },
  ],
  [
    'with force a connected pipeline is deleted; its sources and sinks remain',
    allRevisions,
    async api => {
      const { source, sink, pipeline } = await connected(api)
      expect((await api.call('DELETE', `/pipelines/${pipeline}?force=true`)).status).toBe(204)
      expect((await api.call('GET', `/sources/${source}`)).status).toBe(200)
      expect((await api.call('GET', `/sinks/${sink}`)).status).toBe(200)
    },
  ],
  [
    'ids are never reused',
    allRevisions,
    async ({ call, create }) => {
      for (const [path, input] of [
        ['/sources', cameraSource],
        ['/sinks', discardSink],
        ['/pipelines', { elements: countingElements }],
      ] as const) {
        const id = await create(path, input)
        await call('DELETE', `${path}/${id}`)
        await call('POST', '/configuration', [])
        expect(await create(path, input)).toBeGreaterThan(id)
      }
    },
  ],
]

describe('references', () => testStatements(callOf, references))
