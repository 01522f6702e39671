import { join } from 'node:path'
import type { MetricValues } from '@eyrie/element/metrics'
import { expect, it } from 'vitest'
import { createElementFrame } from '../../../test/fixtures/engine/element-frame.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { readPlugin } from '../plugin-host/known-plugin.ts'
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
