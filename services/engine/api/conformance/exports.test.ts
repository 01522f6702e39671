import { describe, expect } from 'vitest'
import {
  type ApiUnderTest,
  allRevisions,
  type Statement,
  testStatements,
  v3Only,
} from '../../../../test/fixtures/engine/conformance.ts'
import {
  cameraSource,
  countingElements,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** Exported channels and streams with their static metadata and properties. */

const callOf = sharedEngine()

/** Creates two channels of one pipeline and returns their ids. */
async function channels({ call, create }: ApiUnderTest): Promise<[number, number]> {
  const sources = [
    await create('/sources', cameraSource),
    await create('/sources', { ...cameraSource, rate: 1 }),
  ]
  await create('/pipelines', { elements: countingElements, sources, usecase: 'counting' })
  return (await call('GET', '/exports')).body.channels.map(({ id }: { id: number }) => id)
}

const [from, to] = [
  { x: 0, y: 0 },
  { x: 1, y: 1 },
]
const properties = ['source', 'pipeline', 'stream', 'usecase', 'static', 'fps', 'latency']

const lines: Statement[] = [
  [
    'a channel has id, source, pipeline and stream; stream may be null',
    allRevisions,
    async api => {
      await channels(api)
      const { body } = await api.call('GET', '/exports')
      for (const channel of body.channels) {
        expect(channel).toEqual({
          id: expect.any(Number),
          source: expect.any(Number),
          pipeline: expect.any(Number),
          stream: null,
        })
      }
    },
  ],
  [
    'the filter is streams or channels or both; the other part is absent',
    allRevisions,
    async ({ call }) => {
      for (const part of ['streams', 'channels']) {
        expect((await call('GET', `/exports?filter=${part}`)).body).toEqual({ [part]: [] })
      }
    },
  ],
  [
    'properties are keyed by the id of the channel, as a string',
    allRevisions,
    async api => {
      const ids = await channels(api)
      const { body } = await api.call('GET', '/exports/channels/properties')
      expect(Object.keys(body)).toEqual(ids.map(String))
    },
  ],
  [
    'without props all properties are returned',
    allRevisions,
    async api => {
      const [id] = await channels(api)
      const { body } = await api.call('GET', `/exports/channels/properties?ids=${id}`)
      expect(Object.keys(body[id]).sort()).toEqual(properties.toSorted())
    },
  ],
  ...properties.map(
    (property): Statement => [
      `${property} can be asked for alone`,
      allRevisions,
      async api => {
        const [id] = await channels(api)
        const { body } = await api.call(
          'GET',
          `/exports/channels/properties?ids=${id}&props=${property}`,
        )
        expect(Object.keys(body[id])).toEqual([property])
      },
    ],
  ),
  [
    'ids may be repeated or separated by commas',
    allRevisions,
    async api => {
      const [one, other] = await channels(api)
      for (const query of [`ids=${one},${other}`, `ids=${one}&ids=${other}`]) {
        const { body } = await api.call(
          'GET',
          `/exports/channels/properties?${query}&props=usecase`,
        )
        expect(body).toEqual({ [one]: { usecase: 'counting' }, [other]: { usecase: 'counting' } })
      }
    },
  ],
  [
    'static metadata contains the metadata of all elements, even right after the channel was created',
    allRevisions,
    async api => {
      const source = await api.create('/sources', cameraSource)
      const line = { name: 'door', coords: [from, to] }
      const zone = { name: 'hall', coords: [from, to, { x: 0, y: 1 }] }
      await api.create('/pipelines', {
        sources: [source],
        elements: [
          { name: 'infer', args: { model: 'scene-detector' } },
          { name: 'line-crossing', config: { [source]: { lines: [line] } } },
          { name: 'detect-zone-intersection', config: { zones: [zone] } },
        ],
      })
      const id = (await api.call('GET', '/exports')).body.channels[0].id
      const shown = {
        'line-crossing': { lines: [line] },
        'detect-zone-intersection': { zones: [zone] },
      }
      expect((await api.call('GET', `/exports/channels/${id}/static`)).body).toEqual(shown)
      const { body } = await api.call('GET', `/exports/channels/properties?ids=${id}&props=static`)
      expect(body).toEqual({ [id]: { static: shown } })
    },
  ],
  [
    'an unknown channel is `id`',
    allRevisions,
    async ({ call }) => {
      for (const path of [
        '/exports/channels/properties?ids=4711',
        '/exports/channels/4711/static',
      ]) {
        expect(await call('GET', path)).toMatchObject({ status: 404, body: { code: 'id' } })
      }
    },
  ],
  [
    'the id of a channel in the path is a non-negative int32',
    allRevisions,
    async ({ call }) => {
      for (const id of ['-1', '2147483648', 'one']) {
        expect(await call('GET', `/exports/channels/${id}/static`)).toMatchObject({
          status: 404,
          body: { code: 'id' },
        })
      }
    },
  ],
  [
    'the snapshot route has the same rule for ids, and an invalid query is `syntax`',
    v3Only,
    async ({ call }) => {
      for (const id of ['-1', '2147483648', 'one', '4711']) {
        expect(await call('GET', `/exports/channels/${id}/snapshot.jpg`)).toMatchObject({
          status: 404,
          body: { code: 'id' },
        })
      }
      const answer = await call('GET', '/exports/channels/1/snapshot.jpg?width=5')
      expect(answer).toMatchObject({ status: 400, body: { code: 'syntax' } })
    },
  ],
  [
    'the id of a channel is bound to its source and pipeline',
    allRevisions,
    async api => {
      const before = (await channels(api)) as number[]
      const { body } = await api.call('GET', '/configuration')
      const pipeline = `/pipelines/${body.pipelines[0].id}`
      const [source] = body.pipelines[0].sources
      await api.call('POST', `${pipeline}/disconnect-sources`, [source])
      await api.call('POST', `${pipeline}/connect-sources`, [source])
      const after = (await api.call('GET', '/exports')).body.channels.map(
        ({ id }: { id: number }) => id,
      )
      expect(after.sort()).toEqual(before.toSorted())
    },
  ],
]

describe('exports', () => testStatements(callOf, lines))
