import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Counters, communityLicense } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScenePipeline } from '../../appliance/quickstart/quickstart-pipeline.ts'
import { DEMO } from '../../scene/demo.ts'
import {
  createEngineClient,
  readDurableMessages,
  waitUntilStopped,
} from '../fixtures/engine/engine-client.ts'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'

type Scene = Awaited<ReturnType<typeof renderTestScene>>

let scene: Scene
let appliance: Appliance

/** The shortest part of the demo in which each line is crossed often enough; in the long run all of it. */
const SECONDS = process.env.EYRIE_LONG === '1' ? DEMO.seconds : 39

/** With this pacing every frame is analysed, so the counts do not depend on the speed of the machine. */
const settings = { engine: { pacing: 'all' } }

beforeAll(async () => {
  scene = await renderTestScene(SECONDS)
  appliance = await startAppliance({
    source: 'test://ball',
    settings,
    environment: {
      EYRIE_MEDIA_ROOTS: scene.folder,
      EYRIE_DATA: mkdtempSync(join(tmpdir(), 'eyrie-counts-')),
    },
  })
  await appliance.waitForLine(/ready: open/)
}, 300_000)
afterAll(() => appliance.remove())

const count = <T>(items: T[], matches: (item: T) => boolean) => items.filter(matches).length

describe('counts of the rendered scene', () => {
  it('match the ground truth on every line in both directions', async () => {
    const engine = createEngineClient(appliance)
    await engine.activate(communityLicense)
    const { pipelines } = await engine.deploy([
      {
        sources: [{ type: 'file', address: pathToFileURL(scene.video).href }],
        sinks: [{ type: 'inf', address: 'inf://counts' }],
        elements: createScenePipeline('scene-detector', 0),
        usecase: 'line-crossing',
      },
    ])
    const [pipeline] = pipelines
    if (!pipeline) throw new Error('nothing was deployed')
    await waitUntilStopped(engine, pipeline, 600_000)

    const messages = (await readDurableMessages(engine)).filter(message => message.pipeline === pipeline.id)
    // A `count` message contains only the counters that have changed.
    const counts = messages.filter(message => message.kind === 'count').map(({ data }) => data)
    const last: Counters = Object.assign({}, ...counts)
    for (const { name } of scene.truth.lines) {
      const up = count(scene.truth.crossings, c => c.line === name && c.direction === 'up')
      const down = count(scene.truth.crossings, c => c.line === name && c.direction === 'down')
      expect(up + down, `${name} is crossed in the ground truth`).toBeGreaterThan(10)
      expect(last[name], name).toEqual({ up, down, total: up + down })
    }
    const crossings = messages.filter(
      message => message.kind === 'event' && message.data.type === 'line-crossing',
    )
    expect(crossings).toHaveLength(scene.truth.crossings.length)
  }, 900_000)
})
