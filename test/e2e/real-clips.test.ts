// @module-tag long

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { COMMUNITY_LICENSE, deployment, type PipelineElement } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { createEngineClient, waitUntilStopped } from '../fixtures/engine/engine-client.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
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

/** The floor in front of a table. People walk there one after the other and leave again. */
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
  config: {
    0: { lines: [verticalLine('left', 0.12, [0, 1]), verticalLine('right', 0.85, [0, 0.5])] },
  },
}

const isLong = process.env.EYRIE_LONG === '1'
/**
 * The beginning of a clip, in frames, and what crosses it; the long run analyses the whole clips.
 */
const people = isLong ? { frames: 1394, persons: 6 } : { frames: 480, persons: 2 }
const road = isLong
  ? { frames: 480, vehicles: 17, minProposed: 15 }
  : { frames: 300, vehicles: 10, minProposed: 8 }

/** The results of a frame, as the sink of the pipeline writes them. */
interface FrameRecord {
  objects: { class: string; track?: number }[]
  events: { type: string; name?: string; direction?: string; class?: string }[]
}

/**
 * Every frame is analysed, so a busy machine delays the end of a clip but does not change its
 * counts.
 */
const ANALYSIS_LIMIT_MS = 1_800_000
const TEST_LIMIT_MS = ANALYSIS_LIMIT_MS + 60_000

/**
 * The expected counts were determined by watching the clips. All parameters of `infer` and the
 * tracker have their defaults.
 */
describe(
  'YOLOX-nano on real clips',
  needs(requireTestData('models/yolox_nano.onnx'), requireTestData('video')),
  () => {
    let appliance: Appliance
    let clips: string

    beforeAll(async () => {
      const data = mkdtempSync(join(tmpdir(), 'eyrie-real-clips-'))
      clips = mkdtempSync(join(tmpdir(), 'eyrie-clips-'))
      appliance = await startAppliance({
        source: SMALL_PICTURE,
        model: yolox,
        settings: { engine: { pacing: 'all' } },
        environment: { EYRIE_MEDIA_ROOTS: `${videos}:${clips}`, EYRIE_DATA: data },
      })
      await appliance.waitForLine(/ready: open/)
      await createEngineClient(appliance).activate(COMMUNITY_LICENSE)
    }, 600_000)
    afterAll(async () => {
      await appliance.remove()
      rmSync(clips, { recursive: true })
    })

    /** Writes the first frames of a clip, and returns the path. */
    function cut(clip: string, frames: number): string {
      const path = join(clips, clip)
      const only = ['-map', '0:v', '-c', 'copy', '-frames:v', String(frames)]
      execFileSync('ffmpeg', ['-v', 'error', '-i', join(videos!, clip), ...only, path])
      return path
    }

    /** Analyses a clip that shows this number of frames, and returns the results of all of them. */
    async function analyse(
      address: string,
      frameCount: number,
      last: PipelineElement,
      whileRunning: (pipeline: number) => Promise<void> = async () => {},
    ): Promise<FrameRecord[]> {
      const engine = createEngineClient(appliance)
      const results = join(appliance.data, 'output', `${randomUUID()}.jsonl`)
      const { pipelines } = await engine.deploy([
        {
          sources: [{ type: 'file', address }],
          sinks: [{ type: 'file', address: pathToFileURL(results).href }],
          elements: [
            { name: 'infer', args: { model: 'yolox_nano' } },
            { name: 'object-tracking' },
            last,
          ],
        },
      ])
      await whileRunning(pipelines[0]!.id)
      await waitUntilStopped(engine, pipelines[0]!, ANALYSIS_LIMIT_MS)
      // The sink may still write the last lines.
      return vi.waitFor(() => {
        const lines = readFileSync(results, 'utf8').split('\n').slice(0, -1)
        expect(lines, `analysed frames of ${address}`).toHaveLength(frameCount)
        return lines.map(line => JSON.parse(line) as FrameRecord)
      }, SINK_TIMEOUT)
    }
    const SINK_TIMEOUT = { timeout: 60_000, interval: 500 }

    const listEvents = (frames: FrameRecord[]) => frames.flatMap(({ events }) => events)
    const isVehicle = (event: FrameRecord['events'][number]) =>
      event.class === 'car' || event.class === 'truck'
    const listClasses = (frames: FrameRecord[]) =>
      new Set(frames.flatMap(({ objects }) => objects.map(object => object.class)))

    it(
      `counts ${people.persons} people who walk to a table one after the other`,
      async () => {
        const clip = cut('one-by-one-person-detection.mp4', people.frames)
        const events = listEvents(await analyse(pathToFileURL(clip).href, people.frames, zones))
        const ofType = (type: string) => events.filter(event => event.type === type)
        expect(ofType('zone-enter').filter(event => event.class === 'person')).toHaveLength(
          people.persons,
        )
        expect(ofType('zone-exit')).toHaveLength(ofType('zone-enter').length)
      },
      TEST_LIMIT_MS,
    )

    it(
      `counts ${road.vehicles} vehicles that drive to the right, at a given line and at the one that eyrie lines propose prints`,
      async () => {
        let proposed: PipelineElement | undefined
        const clip = cut('traffic.mp4', road.frames)
        const frames = await analyse(
          pathToFileURL(clip).href,
          road.frames,
          traffic,
          async pipeline => {
            // The watch ends with the clip.
            const args = ['lines', 'propose', String(pipeline), '--seconds', '600']
            const { out, err } = await runEyrieCommand(args, {
              data: appliance.data,
              environment: { EYRIE_ENGINE_URL: appliance.engineUrl },
            })
            expect(err).toMatch(/^watching pipeline \d+ for 600 s\n$/)
            const sources = [{ type: 'file', address: 'traffic.mp4' }]
            proposed = deployment.parse([{ sources, elements: parseYaml(out) }])[0]!.elements[0]
          },
        )
        // Looking along the line from top to bottom, the right of the picture is on the left:
        // `down`.
        const directions = listEvents(frames).map(event => [isVehicle(event), event.direction])
        expect(directions).toEqual(Array(road.vehicles).fill([true, 'down']))
        expect(listClasses(frames)).toEqual(new Set(['car', 'truck']))

        // The path is another address than the URL: a source that has ended would not start again.
        const events = listEvents(await analyse(clip, road.frames, proposed!))
        const vehicles = events.filter(isVehicle)
        expect(
          vehicles.filter(({ direction }) => direction === 'up').length,
        ).toBeGreaterThanOrEqual(road.minProposed)
      },
      2 * TEST_LIMIT_MS,
    )

    it(
      'counts cars, a person and cyclists at the exits of a car park, and shows no airplane',
      async () => {
        const clip = join(videos!, 'person-bicycle-car-detection.mp4')
        const frames = await analyse(pathToFileURL(clip).href, 460, carPark)
        const events = listEvents(frames)
        const crossed = events.map(event => `${event.name} ${event.direction}`).sort()
        expect(crossed).toEqual(['left down', 'left up', 'left up', 'right down', 'right down'])
        const cyclists = events.filter(({ name }) => name === 'right')
        expect(cyclists.map(event => event.class)).toEqual(['person', 'person'])
        expect(listClasses(frames)).not.toContain('airplane')
      },
      TEST_LIMIT_MS,
    )
  },
)
