import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { COMMUNITY_LICENSE, deployment, type PipelineElement } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { createDefaultPipeline } from '../../appliance/quickstart/quickstart-pipeline.ts'
import {
  createEngineClient,
  readDurableMessages,
  waitUntilStopped,
} from '../fixtures/engine/engine-client.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { findTestData, requireTestData } from '../fixtures/requirements/test-data.ts'

const yolox = findTestData('models/yolox_nano.onnx')
const videos = findTestData('video')

/** A vertical line between two heights. */
const verticalLine = (name: string, x: number, [top, bottom]: [number, number]) => ({
  name,
  coords: [
    { x, y: top },
    { x, y: bottom },
  ],
})

/** The floor in front of a table. Six people walk there one after the other and leave again. */
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

/** Across the near lanes of a road, where traffic moves to the right. */
const traffic = {
  name: 'line-crossing',
  config: { 0: { lines: [verticalLine('near', 0.5, [0.35, 1])] } },
}
/** The two exits of a car park. */
const carPark = {
  name: 'line-crossing',
  config: { 0: { lines: [verticalLine('left', 0.12, [0, 1]), verticalLine('right', 0.85, [0, 0.5])] } },
}

interface ClipEvent {
  type: string
  name?: string
  direction?: string
  class?: string
}

/** The expected counts were determined by watching the clips. */
describe(
  'YOLOX-nano on real clips',
  needs(requireTestData('models/yolox_nano.onnx'), requireTestData('video')),
  () => {
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
      await appliance.waitForLine(/ready: open/)
      await createEngineClient(appliance).activate(COMMUNITY_LICENSE)
    }, 120_000)
    afterAll(() => appliance.remove())

    /** Analyses a whole clip. Returns a function that reads its events. */
    async function analyse(clip: string, last: PipelineElement): Promise<() => Promise<ClipEvent[]>> {
      const engine = createEngineClient(appliance)
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
      await waitUntilStopped(engine, pipeline, 400_000)
      return async () =>
        (await readDurableMessages(engine)).flatMap(({ kind, pipeline: of, data }) =>
          kind === 'event' && of === pipeline.id ? [data as ClipEvent] : [],
        )
    }

    // An event of the last frame may still wait for its snapshot when the pipeline has stopped.
    const EVENTS_TIMEOUT = { timeout: 5000 }

    it('counts six people who walk to a table one after the other', async () => {
      const events = await analyse('one-by-one-person-detection.mp4', zones)
      await vi.waitFor(async () => {
        const clipEvents = await events()
        const ofType = (type: string) => clipEvents.filter(event => event.type === type)
        expect(ofType('zone-enter').filter(event => event.class === 'person')).toHaveLength(6)
        expect(ofType('zone-exit')).toHaveLength(ofType('zone-enter').length)
      }, EVENTS_TIMEOUT)
    }, 420_000)

    it('counts seventeen vehicles that drive to the right', async () => {
      const events = await analyse('traffic.mp4', traffic)
      await vi.waitFor(async () => {
        const vehicles = (await events()).filter(event => event.class === 'car' || event.class === 'truck')
        // Looking along the line from top to bottom, the right of the picture is on the left: `down`.
        expect(vehicles.map(({ direction }) => direction)).toEqual(Array(17).fill('down'))
      }, EVENTS_TIMEOUT)
    }, 420_000)

    it('counts the vehicles of a road at the line that eyrie lines propose prints', async () => {
      // The path is another address than the URL of the other tests: a source that has ended would not start again.
      const sources = [{ type: 'file' as const, address: join(videos ?? '', 'traffic.mp4') }]
      const engine = createEngineClient(appliance)
      const { pipelines } = await engine.deploy([
        { sources, elements: createDefaultPipeline('yolox_nano', 0) },
      ])
      // The watch ends with the clip.
      const args = ['lines', 'propose', String(pipelines[0]!.id), '--seconds', '600']
      const { out, err } = await runEyrieCommand(args, {
        data: appliance.data,
        environment: { EYRIE_ENGINE_URL: appliance.engineUrl },
      })
      expect(err).toMatch(/^watching pipeline \d+ for 600 s\n$/)

      const [printed] = deployment.parse([{ sources, elements: parseYaml(out) }])
      const events = await analyse('traffic.mp4', printed!.elements[0]!)
      await vi.waitFor(async () => {
        const vehicles = (await events()).filter(event => event.class === 'car' || event.class === 'truck')
        expect(vehicles.filter(({ direction }) => direction === 'up').length).toBeGreaterThanOrEqual(15)
      }, EVENTS_TIMEOUT)
    }, 840_000)

    it('counts cars, a person and cyclists at the exits of a car park', async () => {
      const events = await analyse('person-bicycle-car-detection.mp4', carPark)
      await vi.waitFor(async () => {
        const clipEvents = await events()
        const crossed = clipEvents.map(event => `${event.name} ${event.direction}`).sort()
        expect(crossed).toEqual(['left down', 'left up', 'left up', 'right down', 'right down'])
        const cyclists = clipEvents.filter(({ name }) => name === 'right')
        expect(cyclists.map(event => event.class)).toEqual(['person', 'person'])
      }, EVENTS_TIMEOUT)
    }, 420_000)
  },
)
