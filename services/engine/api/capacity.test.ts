import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capacityShortage } from '@eyrie/contract/capacity'
import { createLog } from '@eyrie/kit'
import { addModel } from '@eyrie/model-store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBrightCellDetector } from '../../../test/fixtures/engine/detector-models.ts'
import {
  type ApiRevision,
  type CallEngine,
  type EngineResponse,
  startEngine,
} from '../../../test/fixtures/engine/engine.ts'
import { openCostStore } from '../admission/cost-store.ts'

const camera = { type: 'video', address: 'rtsp://camera/stream' }
const elements = [{ name: 'object-tracking' }]
const CORES = 0.5
const size = { width: 64, height: 64 }

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../plugins/object-tracking/plugin.json'), 'utf8'),
)

/**
 * An engine that may use half a core and has stored costs: the camera sends 25 frames a
 * second, decoding takes 4 ms and tracking 20 ms per frame. A channel needs 0.6 cores,
 * or 0.2 at a rate of 5.
 */
let started: Awaited<ReturnType<typeof startEngine>>
let data: string
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'eyrie-capacity-'))
  await mkdir(join(data, 'engine'))
  const { costs, stop } = await openCostStore(
    join(data, 'engine/costs.json'),
    createLog('test', 'silent'),
  )
  const source = {
    id: 0,
    type: 'video',
    address: { url: camera.address },
    decoder: 'gst_h264',
  } as const
  costs.recordDecoding(
    { ...source, rate: undefined, pacing: 'realtime', ended: false },
    { fps: 25, decodeMs: 4 },
  )
  for (let n = 0; n < 100; n++) costs.recordElement('object-tracking', version, 20)
  for (const [name, shapes, ms] of [
    ['small', 'initializers', 2],
    ['large', 'nodes', 100],
  ] as const) {
    const model = createBrightCellDetector({ ...size, shapes })
    const root = join(data, 'models')
    const { card } = await addModel(root, {
      name,
      head: 'yolox',
      labels: ['bright'],
      license: 'MIT',
      model,
    })
    for (let n = 0; n < 100; n++) {
      costs.recordInference({ sha256: card.sha256, device: 'cpu', size }, ms)
    }
  }
  await stop()
  writeFileSync(
    join(data, 'eyrie.json'),
    JSON.stringify({ engine: { capacity: { cores: CORES } } }),
  )
  started = await startEngine(data, { EYRIE_LICENSE: 'community' })
})
afterAll(async () => {
  await started.engine.stop()
  await rm(data, { recursive: true })
})

/**
 * One channel runs at a rate of 5. `fast` is the same camera without a rate, `idle` a
 * pipeline without a source.
 */
async function setUp(revision: ApiRevision) {
  const { engine, call, getRevision } = started
  await call('POST', '/configuration', [])
  const created = async (path: string, body: object): Promise<number> =>
    (await call('POST', path, body)).body.id
  const slow = await created('/sources', { ...camera, rate: 5 })
  const fast = await created('/sources', camera)
  const running = await created('/pipelines', { elements, sources: [slow] })
  const idle = await created('/pipelines', { elements })
  return { engine, call, revised: getRevision(revision), slow, fast, running, idle }
}
type Engine = Awaited<ReturnType<typeof setUp>>

/** All operations that can increase the load. */
const operations: [
  string,
  (engine: Engine, query: string, deployed: 'elements' | 'pipeline') => ReturnType<CallEngine>,
][] = [
  [
    'create pipeline',
    ({ revised, fast }, query) =>
      revised('POST', `/pipelines${query}`, { elements, sources: [fast] }),
  ],
  [
    'update pipeline',
    ({ revised, idle, fast }, query) =>
      revised('PUT', `/pipelines/${idle}${query}`, { elements, sources: [fast] }),
  ],
  [
    'modify pipeline',
    ({ revised, idle, fast }, query) =>
      revised('PATCH', `/pipelines/${idle}${query}`, { sources: [fast] }),
  ],
  [
    'connect sources',
    ({ revised, idle, fast }, query) =>
      revised('POST', `/pipelines/${idle}/connect-sources${query}`, [fast]),
  ],
  [
    'update source',
    ({ revised, slow }, query) => revised('PUT', `/sources/${slow}${query}`, camera),
  ],
  [
    'modify source',
    ({ revised, slow }, query) => revised('PATCH', `/sources/${slow}${query}`, { rate: 24 }),
  ],
  [
    'deploy',
    ({ revised }, query, key) =>
      revised('POST', `/configuration${query}`, [{ sources: [camera], [key]: elements }]),
  ],
]

function expectRefused({ status, body }: EngineResponse) {
  expect([status, body.code]).toEqual([409, 'capacity'])
  const value = capacityShortage.parse(body.value)
  expect(value.available).toBe(CORES)
  expect(value.needed).toBeGreaterThan(CORES)
  expect(value.needed).toBeCloseTo(value.decoding + value.inference + value.elements)
  expect(body.reason).toContain(`would need ${value.needed} cores, but only ${CORES} are available`)
}

describe.each(['v1', 'v2', 'v3'] as const)('admission in %s', revision => {
  const key = revision === 'v3' ? 'elements' : 'pipeline'

  test.each(operations)(
    'rejects %s with the predicted load if it exceeds the capacity, and accepts an override',
    async (_, operate) => {
      const engine = await setUp(revision)
      const before = (await engine.call('GET', '/configuration')).body
      expectRefused(await operate(engine, '', key))
      expect((await engine.call('GET', '/configuration')).body).toEqual(before)
      expect((await operate(engine, '?override=memory', key)).body.code).toBe('syntax')
      expect((await operate(engine, '?override=capacity', key)).status).toBeLessThan(300)
      expect((await engine.call('GET', '/configuration')).body).not.toEqual(before)
    },
  )
})

test('admission accepts edits that do not increase the load, even under overload', async () => {
  const { call, running, fast, slow } = await setUp('v3')
  expect((await call('PATCH', `/sources/${slow}?override=capacity`, { rate: null })).status).toBe(
    200,
  )
  expectRefused(await call('POST', `/pipelines/${running}/connect-sources`, [fast]))
  expect((await call('PATCH', `/pipelines/${running}`, { priority: 9 })).status).toBe(200)
  expect((await call('PATCH', `/pipelines/${running}`, { elements })).status).toBe(200)
  expect((await call('POST', '/sinks', { type: 'inf', address: 'inf://nothing' })).status).toBe(201)
  expect((await call('PATCH', `/sources/${slow}`, { rate: 24 })).status).toBe(200)
  expectRefused(await call('PATCH', `/sources/${slow}`, { rate: 25 }))
  expect((await call('POST', `/pipelines/${running}/disconnect-sources`, [slow])).status).toBe(200)
})

test('admission accepts a camera with unknown costs and lists it as unknown in later rejections', async () => {
  const { call, idle, fast } = await setUp('v3')
  for (const n of [1, 2, 3]) {
    const { id } = (
      await call('POST', '/sources', { type: 'video', address: `rtsp://u:p@camera/${n}` })
    ).body
    expect((await call('POST', `/pipelines/${idle}/connect-sources`, [id])).status).toBe(200)
  }
  const { body } = await call('POST', `/pipelines/${idle}/connect-sources`, [fast])
  expect(body.value.unknown).toEqual([
    'source rtsp://camera/1',
    'source rtsp://camera/2',
    'source rtsp://camera/3',
  ])
})

test('metrics include the predicted load and the capacity', async () => {
  const { engine } = await setUp('v3')
  const lines = (await (await engine.app.request('/metrics')).text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining(['eyrie_capacity_cores 0.5', 'eyrie_load_predicted_cores 0.2']),
  )
})

test.each(['v1', 'v2', 'v3'] as const)(
  'the OpenAPI document of %s lists the operations that accept an override',
  async revision => {
    const { body } = await started.getRevision(revision)('GET', '/openapi.json')
    const document: { paths: Record<string, Record<string, { parameters?: { name: string }[] }>> } =
      body
    const overridable = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
        parameters.some(({ name }) => name === 'override') ? [`${method} ${path}`] : [],
      ),
    )
    const models = ['post /models/{name}/shadow/acceptance', 'put /models/{name}']
    expect(overridable.sort()).toEqual(
      [
        'patch /pipelines/{id}',
        'patch /sources/{id}',
        'post /configuration',
        'post /pipelines',
        'post /pipelines/{id}/connect-sources',
        'post /sources',
        'put /pipelines/{id}',
        'put /sources/{id}',
        ...(revision === 'v3' ? models : []),
      ].sort(),
    )
  },
)

test('a model that needs more than the capacity is not switched to, unless the capacity is overridden', async () => {
  const { call, slow } = await setUp('v3')
  await call('POST', '/pipelines', {
    elements: [{ name: 'infer', args: { model: 'small' } }],
    sources: [slow],
  })
  const use = (query: string) => call('PUT', `/models/small${query}`, { active: 'large' })
  expectRefused(await use(''))
  expect((await call('GET', '/models/small')).body.active).toBe('small')
  expect(await use('?override=capacity')).toMatchObject({ status: 200, body: { active: 'large' } })
})
