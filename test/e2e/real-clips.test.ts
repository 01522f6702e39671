import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { communityLicense, type PipelineElement } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Appliance, startAppliance } from '../fixtures/appliance.ts'
import { testData } from '../fixtures/data.ts'
import { durableMessages, engineOf, untilStopped } from '../fixtures/engine-api.ts'

const yolox = testData('models/yolox_nano.onnx')
const videos = testData('video')

/** From the upper to the lower edge of a band of the picture. */
const upright = (name: string, x: number, [top, bottom]: [number, number]) => ({
  name,
  coords: [
    { x, y: top },
    { x, y: bottom },
  ],
})

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
const zones = { name: 'detect-zone-intersection', config: { zones: [table] } }

/** The middle of a road of several lanes, of which the near ones are driven to the right. */
const traffic = {
  name: 'line-crossing',
  config: { 0: { lines: [upright('near', 0.5, [0.35, 1])] } },
}
/** Two ways out of a car park. */
const carPark = {
  name: 'line-crossing',
  config: { 0: { lines: [upright('left', 0.12, [0, 1]), upright('right', 0.85, [0, 0.5])] } },
}

interface Seen {
  type: string
  name?: string
  direction?: string
  class?: string
}

/** The counts below are those of a person who watched the clips. */
describe.runIf(yolox && videos)('YOLOX-nano on real clips', () => {
  let appliance: Appliance

  beforeAll(async () => {
    appliance = await startAppliance({
      source: 'test://ball',
      model: yolox,
      settings: { engine: { pacing: 'all' } },
      environment: {
        EYRIE_MEDIA_ROOTS: videos,
        EYRIE_DATA: mkdtempSync(join(tmpdir(), 'eyrie-real-clips-')),
      },
    })
    await appliance.printed(/ready: open/)
    await engineOf(appliance).activate(communityLicense)
  }, 120_000)
  afterAll(() => appliance.remove())

  /** Analyses a clip from its first to its last frame; gives what reads its events. */
  async function analyse(clip: string, last: PipelineElement): Promise<() => Promise<Seen[]>> {
    const engine = engineOf(appliance)
    const { pipelines } = await engine.deploy([
      {
        sources: [{ type: 'file', address: pathToFileURL(join(videos ?? '', clip)).href }],
        elements: [
          { name: 'infer', args: { model: 'yolox_nano', score_threshold: 0.1 } },
          { name: 'object-tracking' },
          last,
        ],
      },
    ])
    const pipeline = pipelines[0]!
    await untilStopped(engine, pipeline, 400_000)
    return async () =>
      (await durableMessages(engine)).flatMap(({ kind, pipeline: of, data }) =>
        kind === 'event' && of === pipeline.id ? [data as Seen] : [],
      )
  }

  // An event of the last frame may still wait for its picture when the pipeline has stopped.
  const soon = { timeout: 5000 }

  it('six people walk to a table, one after the other', async () => {
    const events = await analyse('one-by-one-person-detection.mp4', zones)
    await vi.waitFor(async () => {
      const seen = await events()
      const of = (type: string) => seen.filter(event => event.type === type)
      expect(of('zone-enter').filter(event => event.class === 'person')).toHaveLength(6)
      expect(of('zone-exit')).toHaveLength(of('zone-enter').length)
    }, soon)
  }, 420_000)

  it('seventeen vehicles drive to the right', async () => {
    const events = await analyse('traffic.mp4', traffic)
    await vi.waitFor(async () => {
      const vehicles = (await events()).filter(event => event.class === 'car' || event.class === 'truck')
      // Looking down the picture, the right is on the left.
      expect(vehicles.map(({ direction }) => direction)).toEqual(Array(17).fill('down'))
    }, soon)
  }, 420_000)

  it('two cars leave to the left, somebody comes from there, and two cyclists leave to the right', async () => {
    const events = await analyse('person-bicycle-car-detection.mp4', carPark)
    await vi.waitFor(async () => {
      const seen = await events()
      const crossed = seen.map(event => `${event.name} ${event.direction}`).sort()
      expect(crossed).toEqual(['left down', 'left up', 'left up', 'right down', 'right down'])
      const cyclists = seen.filter(({ name }) => name === 'right')
      expect(cyclists.map(event => event.class)).toEqual(['person', 'person'])
    }, soon)
  }, 420_000)
})
