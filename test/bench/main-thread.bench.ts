import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { COMMUNITY_LICENSE } from '@eyrie/contract'
import { createScenePipeline } from '../../appliance/quickstart/quickstart-pipeline.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { startAppliance } from '../fixtures/processes/appliance.ts'
import { findServicePid } from '../fixtures/processes/processes.ts'
import type { Bench } from './bench.ts'
import { mainThreadCpu } from './cpu.ts'

const channels = 4
const rate = 15
const rounds = 5
const roundSeconds = 5
/**
 * V8 optimizes a function after 3,000 calls: at 15 frames/s, code that runs once per frame takes
 * minutes to get there.
 */
const warmUpMs = 120_000

export const bench: Bench = {
  name: `CPU of the engine's main thread with ${channels} channels at ${rate} frames/s`,
  limit: { max: 10 },
  unit: ' %',

  async run() {
    const scene = await renderTestScene()
    const appliance = await startAppliance({
      source: 'test://ball',
      environment: { EYRIE_MEDIA_ROOTS: scene.folder },
    })
    try {
      await appliance.waitForLine(/ready: open/)
      const engine = createEngineClient(appliance)
      await engine.activate(COMMUNITY_LICENSE)
      const address = pathToFileURL(scene.video).href
      const { pipelines } = await engine.deploy(
        Array.from({ length: channels }, (_, n) => ({
          sources: [{ type: 'inf', address, rate }],
          // A picture small enough for two cores: this measures the work around inference.
          elements: [
            { name: 'image-resize', args: { width: 384, height: 216 } },
            ...createScenePipeline('scene-detector', 0),
          ],
          usecase: `channel ${n}`,
        })),
      )
      await wait(warmUpMs)
      const pid = findServicePid(appliance.data, 'engine')
      const busy: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        const before = mainThreadCpu(pid)
        await wait(roundSeconds * 1000)
        busy.push(((mainThreadCpu(pid) - before) / roundSeconds) * 100)
      }
      const analysed = await Promise.all(
        pipelines.map(async ({ id }) => (await engine.pipelineStatistics(id)).fps),
      )
      return {
        samples: busy,
        loads: [
          {
            name: 'frames/s analysed by the slowest channel',
            min: 0.9 * rate,
            actual: Math.min(...analysed),
          },
        ],
        detail: `rounds ${busy.map(share => share.toFixed(1)).join(' ')} %; frames/s analysed ${analysed.join(' ')}`,
      }
    } finally {
      await appliance.remove()
    }
  },
}
