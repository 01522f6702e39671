import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Counters, communityLicense } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Appliance, startAppliance } from '../fixtures/appliance.ts'
import { testData } from '../fixtures/data.ts'
import { durableMessages, engineOf, untilStopped } from '../fixtures/engine-api.ts'

const clip = testData('video/one-by-one-person-detection.mp4')
const yolox = testData('models/yolox_nano.onnx')

/** The floor in front of a table to which six people walk, one after the other, and from which they leave again. */
const table = {
  name: 'table',
  coords: [
    { x: 0.35, y: 0.55 },
    { x: 0.75, y: 0.55 },
    { x: 0.75, y: 1 },
    { x: 0.35, y: 1 },
  ],
}

describe.runIf(clip && yolox)('YOLOX-nano on real people', () => {
  let appliance: Appliance

  beforeAll(async () => {
    appliance = await startAppliance({
      args: ['--source', 'test://ball', '--model', yolox ?? ''],
      settings: { engine: { pacing: 'all' } },
      environment: {
        EYRIE_MEDIA_ROOTS: dirname(clip ?? ''),
        EYRIE_DATA: mkdtempSync(join(tmpdir(), 'eyrie-real-clip-')),
      },
    })
    await appliance.printed(/ready: open/)
  }, 120_000)
  afterAll(() => appliance.remove())

  it('counts six visits to the table, as somebody who watches the clip does', async () => {
    const engine = engineOf(appliance)
    await engine.activate(communityLicense)
    const { pipelines } = await engine.deploy([
      {
        sources: [{ type: 'file', address: pathToFileURL(clip ?? '').href }],
        elements: [
          { name: 'infer', args: { model: 'yolox_nano', score_threshold: 0.1 } },
          { name: 'object-tracking' },
          { name: 'detect-zone-intersection', config: { zones: [table] } },
        ],
      },
    ])
    const [pipeline] = pipelines
    if (!pipeline) throw new Error('nothing was deployed')
    await untilStopped(engine, pipeline, 300_000)

    const messages = (await durableMessages(engine)).filter(message => message.pipeline === pipeline.id)
    const enters = messages.filter(message => message.kind === 'event' && message.data.type === 'zone-enter')
    const people = enters.filter(message => message.kind === 'event' && message.data.class === 'person')
    const counts = messages.filter(message => message.kind === 'count').map(({ data }) => data)
    const last: Counters = Object.assign({}, ...counts)
    expect(people).toHaveLength(6)
    expect(last.table).toMatchObject({ total: enters.length, occupancy: 0 })
  }, 400_000)
})
