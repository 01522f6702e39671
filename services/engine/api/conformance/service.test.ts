import { COMMUNITY_LICENSE } from '@eyrie/contract'
import { describe, expect } from 'vitest'
import {
  allRevisions,
  type Statement,
  testStatements,
  v2AndV3,
  v3Only,
} from '../../../../test/fixtures/engine/conformance.ts'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** "What the service does", "States and transitions", and the license. */

const callOf = sharedEngine()

const service: Statement[] = [
  [
    'behaviour is controlled by one configuration: a collection of sources, sinks and pipelines',
    allRevisions,
    async ({ call }) =>
      expect((await call('GET', '/configuration')).body).toEqual({
        sources: [],
        sinks: [],
        pipelines: [],
      }),
  ],
  [
    'each pipeline has an ordered list of processing elements',
    allRevisions,
    async ({ call, create }) => {
      const reversed = countingElements.toReversed()
      for (const list of [countingElements, reversed]) {
        const id = await create('/pipelines', { elements: list })
        expect((await call('GET', `/pipelines/${id}`)).body.elements).toEqual(list)
      }
    },
  ],
  [
    'the interface has activation, catalog, configuration, exports, statistics and about',
    v3Only,
    async ({ call }) => {
      for (const path of [
        '/activation',
        '/catalog',
        '/configuration',
        '/exports',
        '/statistics',
        '/about',
      ]) {
        expect([path, (await call('GET', path)).status]).toEqual([path, 200])
      }
    },
  ],
  [
    'the catalog is read-only',
    v3Only,
    async ({ call }) => {
      for (const path of ['/catalog', '/catalog/models']) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
          const answer = await call(method, path, {})
          expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
        }
      }
    },
  ],
  [
    'a channel pairs one source with one pipeline; a source shared by several pipelines yields several channels',
    allRevisions,
    async ({ call, create }) => {
      const sources = [
        await create('/sources', cameraSource),
        await create('/sources', { ...cameraSource, rate: 1 }),
      ]
      const one = await create('/pipelines', { elements: countingElements, sources })
      const other = await create('/pipelines', {
        elements: countingElements,
        sources: sources.slice(0, 1),
      })
      const { channels } = (await call('GET', '/exports?filter=channels')).body
      const pairs = channels.map((channel: { source: number; pipeline: number }) => [
        channel.source,
        channel.pipeline,
      ])
      expect(pairs.sort()).toEqual(
        [
          [sources[0], one],
          [sources[1], one],
          [sources[0], other],
        ].sort(),
      )
    },
  ],
  [
    'exports expose the configuration, fps and latency of each channel',
    allRevisions,
    async ({ call, create }) => {
      const source = await create('/sources', cameraSource)
      const pipeline = await create('/pipelines', {
        elements: countingElements,
        sources: [source],
        usecase: 'counting',
      })
      const [entry] = Object.values((await call('GET', '/exports/channels/properties')).body)
      expect(entry).toMatchObject({ source, pipeline, usecase: 'counting', fps: 0, latency: 0 })
    },
  ],
  [
    'statistics are the load of the system: percent of the machine, bytes, bytes, seconds, ISO 8601',
    allRevisions,
    async ({ call }) => {
      const {
        cpu,
        mem_physical: memPhysical,
        mem_virtual: memVirtual,
        uptime,
        time,
        ...rest
      } = (await call('GET', '/statistics')).body
      expect(rest).toEqual({})
      expect(cpu).toBeGreaterThanOrEqual(0)
      expect(cpu).toBeLessThanOrEqual(100)
      expect(Number.isInteger(memPhysical) && memPhysical > 1 << 20).toBe(true)
      expect(memVirtual).toBeGreaterThanOrEqual(memPhysical)
      expect(uptime).toBeGreaterThan(0)
      expect(new Date(time).toISOString()).toBe(time)
    },
  ],
  [
    'about returns name, version, revisions, Node, GStreamer and host',
    allRevisions,
    async ({ call }) =>
      expect((await call('GET', '/about')).body).toEqual({
        name: expect.any(String),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        api_versions: ['v1', 'v2', 'v3'],
        node: process.version,
        gstreamer: expect.any(String),
        hostname: expect.any(String),
      }),
  ],
  [
    'the WebSocket output is available without any sink',
    allRevisions,
    async ({ call }) => {
      const answer = await call('GET', '/output')
      expect(answer).toMatchObject({ status: 400, body: { code: 'syntax' } })
      expect(answer.body.reason).toMatch('WebSocket')
    },
  ],
]

const refusedLicense =
  (change: object): Statement[2] =>
  async ({ call }) => {
    const answer = await call('POST', '/activation', { ...COMMUNITY_LICENSE, ...change })
    expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    expect(answer.body.reason.startsWith(`/${Object.keys(change)[0]}: `), answer.body.reason).toBe(
      true,
    )
  }

const license: Statement[] = [
  ['version is required', v2AndV3, refusedLicense({ version: undefined })],
  ['the value of version is 1', v2AndV3, refusedLicense({ version: 2 })],
  ['version is an integer', v2AndV3, refusedLicense({ version: '1' })],
  ['customer is required', v2AndV3, refusedLicense({ customer: undefined })],
  ['customer is a text', v2AndV3, refusedLicense({ customer: 1 })],
  ['subscription is required', v2AndV3, refusedLicense({ subscription: undefined })],
  ['subscription is a text', v2AndV3, refusedLicense({ subscription: 1 })],
  ['pool is required', v2AndV3, refusedLicense({ pool: undefined })],
  ['pool is a text', v2AndV3, refusedLicense({ pool: 1 })],
  ['a license has no other fields', v2AndV3, refusedLicense({ colour: 'red' })],
  [
    'a license that is not in the pool is invalid',
    v2AndV3,
    async ({ call }) => {
      const answer = await call('POST', '/activation?force=true', {
        ...COMMUNITY_LICENSE,
        customer: 'acme',
      })
      expect([answer.status, answer.body.code]).toEqual([400, 'license'])
    },
  ],
  [
    'activate and get activation return activated, activated_at and the license',
    v2AndV3,
    async ({ call }) => {
      const answer = await call('POST', '/activation', COMMUNITY_LICENSE)
      const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
      expect(answer).toMatchObject({
        status: 200,
        body: { activated: true, license: COMMUNITY_LICENSE },
      })
      expect(answer.body).toEqual({ activated: true, activated_at: at, license: COMMUNITY_LICENSE })
      expect((await call('GET', '/activation')).body).toEqual(answer.body)
    },
  ],
  [
    'the same license again changes nothing',
    v2AndV3,
    async ({ call }) => {
      const before = (await call('GET', '/activation')).body
      expect((await call('POST', '/activation', COMMUNITY_LICENSE)).body).toEqual(before)
    },
  ],
  [
    'force activates the license again',
    v2AndV3,
    async ({ call }) => {
      const before = (await call('GET', '/activation')).body
      const { body, status } = await call('POST', '/activation?force=true', COMMUNITY_LICENSE)
      expect(status).toBe(200)
      expect(Date.parse(body.activated_at)).toBeGreaterThan(Date.parse(before.activated_at))
    },
  ],
  [
    'force is a boolean',
    v2AndV3,
    async ({ call }) =>
      expect(await call('POST', '/activation?force=perhaps', COMMUNITY_LICENSE)).toMatchObject({
        status: 400,
        body: { code: 'syntax' },
      }),
  ],
]

const connections: Statement[] = (['sources', 'sinks'] as const).flatMap((kind): Statement[] => {
  const input = kind === 'sources' ? cameraSource : discardSink
  return [
    [
      `connect ${kind} adds the listed ids to the ${kind} of the pipeline`,
      allRevisions,
      async ({ call, create }) => {
        const [first, second] = [
          await create(`/${kind}`, input),
          await create(`/${kind}`, kind === 'sources' ? { ...input, rate: 2 } : input),
        ]
        const pipeline = await create('/pipelines', { elements: countingElements, [kind]: [first] })
        const answer = await call('POST', `/pipelines/${pipeline}/connect-${kind}`, [second])
        expect([answer.status, answer.body[kind]]).toEqual([200, [first, second]])
      },
    ],
    [
      `disconnect ${kind} removes them`,
      allRevisions,
      async ({ call, create }) => {
        const id = await create(`/${kind}`, input)
        const pipeline = await create('/pipelines', { elements: countingElements, [kind]: [id] })
        const answer = await call('POST', `/pipelines/${pipeline}/disconnect-${kind}`, [id])
        expect([answer.status, answer.body[kind]]).toEqual([200, []])
      },
    ],
    [
      `connect and disconnect ${kind} apply to all ids or none, and list the ids that are unknown or (not) connected`,
      allRevisions,
      async ({ call, create }) => {
        const id = await create(`/${kind}`, input)
        const pipeline = await create('/pipelines', { elements: countingElements })
        const one = `/pipelines/${pipeline}`
        const refusal = (ids: number[]) => ({
          status: 400,
          body: {
            code: 'id',
            reason: expect.any(String),
            value: { id: String(pipeline), [kind]: ids },
          },
        })
        expect(await call('POST', `${one}/connect-${kind}`, [id, 4711])).toMatchObject(
          refusal([4711]),
        )
        expect(await call('POST', `${one}/disconnect-${kind}`, [id])).toMatchObject(refusal([id]))
        await call('POST', `${one}/connect-${kind}`, [id])
        expect(await call('POST', `${one}/connect-${kind}`, [id])).toMatchObject(refusal([id]))
        expect((await call('PATCH', one, {})).body[kind]).toEqual([id])
      },
    ],
  ]
})

describe('service', () => testStatements(callOf, service))
describe('license', () => testStatements(callOf, license))
describe('pipeline', () => testStatements(callOf, connections))
