import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { capabilities } from '@eyrie/contract'
import type { MetricValues } from '@eyrie/element/metrics'
import { createLog } from '@eyrie/kit'
import { expect, it, onTestFinished } from 'vitest'
import { createElementFrame } from '../../../test/fixtures/engine/element-frame.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { readPlugin } from '../plugin-host/known-plugin.ts'
import { openPluginQuarantine } from '../plugin-host/sandbox/plugin-quarantine.ts'
import { createTestSandboxes } from '../plugin-host/sandbox/probe-sandboxes.fixture.ts'
import { planStages, type StageContext } from './stage-plan.ts'

it('metrics of two elements of one name in a pipeline do not overwrite each other', async () => {
  const folder = createTemporaryFolder()
  writePlugin(folder, {
    element: { params_schema: { type: 'object' } },
    module: `const open = ({ args, metrics }) => ({ process: () => (metrics.set('limit', args.limit), {}) })`,
    open: 'return open(setup)',
  })
  const { elements } = readPlugin(join(folder, 'probe'), 'built-in')
  const received: Record<string, MetricValues> = {}
  const context = {
    channel: 1,
    source: 1,
    elements: new Map(elements.map(element => [element.manifest.name, element])),
    createInference: () => undefined,
    onCost: () => {},
    onMetrics: (element: string, metrics: MetricValues) => {
      received[element] = metrics
    },
  } as unknown as StageContext

  const pipeline = [2, 3].map(limit => ({ name: 'probe', args: { limit } }))
  for (const stage of planStages(pipeline, context)) {
    const element = await stage.open({ size: undefined, findRing: () => undefined })
    for (const n of [1, 2]) await element.process(createElementFrame(n))
  }
  expect(received).toEqual({
    probe: { values: { limit: 2 }, totals: {} },
    'probe 2': { values: { limit: 3 }, totals: {} },
  })
})

it('two elements of one name in a pipeline have files of their own', async () => {
  const folder = createTemporaryFolder()
  writePlugin(folder, {
    element: {
      runs: 'worker',
      params_schema: { type: 'object' },
      capabilities: capabilities.parse({ storage_bytes: 1000 }),
    },
    open: `return { process: async () => (await setup.storage.write(setup.args.file, ''), {}) }`,
  })
  const log = createLog('test', 'silent')
  const quarantine = openPluginQuarantine({ file: join(folder, 'quarantine.json'), log })
  const { elements } = readPlugin(join(folder, 'probe'), 'uploaded')
  const context = {
    channel: 1,
    source: 1,
    sandboxes: await createTestSandboxes(folder, {
      quarantine,
      allowsPartialIsolation: false,
      log,
    }),
    elements: new Map(elements.map(element => [element.manifest.name, element])),
    createInference: () => undefined,
    onCost: () => {},
    onMetrics: () => {},
    log,
  } as unknown as StageContext

  const pipeline = ['people', 'cars'].map(file => ({ name: 'probe', args: { file } }))
  for (const stage of planStages(pipeline, context)) {
    const element = await stage.open({ size: undefined, findRing: () => undefined })
    onTestFinished(() => element.close?.())
    await element.process(createElementFrame(1))
  }
  const storage = join(folder, '.storage/probe')
  expect(readdirSync(storage, { recursive: true }).sort()).toEqual([
    'probe',
    'probe 2',
    'probe 2/1',
    'probe 2/1/cars',
    'probe/1',
    'probe/1/people',
  ])
}, 120_000)
