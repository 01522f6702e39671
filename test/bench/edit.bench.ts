import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@eyrie/client'
import { makeVideo } from '../fixtures/media/test-video.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { type Bench, median } from './bench.ts'
import { deployFifty, lineNamed, PIPELINES } from './fifty-pipelines.ts'

const edits = 40
const rate = 5

/**
 * All pipelines run on real media: ten looped videos of 320x240, five pipelines on each. An edit
 * replaces the line of one pipeline. It is applied when the channel's metadata shows the new line:
 * by then the request was answered, the configuration is on disk and the running elements use it.
 */
export const bench: Bench = {
  name: `time until the edit of one pipeline out of ${PIPELINES} is applied by its channel`,
  limit: { max: 100 },
  unit: ' ms',

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-edit-'))
    const video = join(folder, 'video.mp4')
    makeVideo(video, { frames: 300, fps: rate, keyframeInterval: rate })
    const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
    const engine = await startEngineProcess({
      data: join(folder, 'data'),
      media,
      variables: { EYRIE_MEDIA_ROOTS: folder },
    })
    try {
      // Different addresses make ten sources of one file.
      const { pipelines } = await deployFifty(engine.api, index => ({
        type: 'inf',
        address: join(folder, './'.repeat(index), 'video.mp4'),
        rate: rate + index / 100,
      }))
      await waitUntilRunning(
        engine.api,
        pipelines.map(({ id }) => id),
      )
      const [answered, applied] = [[] as number[], [] as number[]]
      for (let number = 1; number <= edits; number += 1) {
        const { answeredMs, appliedMs } = await edit(engine.api, (number * 7) % PIPELINES, number)
        answered.push(answeredMs)
        applied.push(appliedMs)
        await wait(100)
      }
      const statistics = await Promise.all(
        pipelines.map(({ id }) => engine.api.pipelineStatistics(id)),
      )
      const analysed = statistics.reduce((sum, { fps }) => sum + fps, 0)
      return {
        samples: applied,
        loads: [
          { name: 'frames analysed per second', min: 0.9 * rate * PIPELINES, actual: analysed },
        ],
        detail: `${edits} edits; answered after ${median(answered).toFixed(1)} ms; slowest applied after ${Math.max(...applied).toFixed(1)} ms; ${analysed.toFixed(0)} frames/s analysed`,
      }
    } finally {
      await engine.stop()
      await media.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function waitUntilRunning(engine: Client, pipelines: number[]): Promise<void> {
  for (const id of pipelines) {
    while ((await engine.pipelineStatistics(id)).status !== 'running') await wait(100)
  }
}

/**
 * Replaces a pipeline's line. Resolves with the milliseconds until the answer and until
 * the channel used it.
 */
async function edit(engine: Client, index: number, number: number) {
  const pipeline = (await engine.pipeline.list())[index]
  const { channels = [] } = await engine.getExports({ filter: ['channels'] })
  const channel = channels.find(each => each.pipeline === pipeline?.id)
  if (!pipeline || !channel) throw new Error(`no pipeline with index ${index}`)
  const name = `line ${number}`
  const elements = pipeline.elements.map(element =>
    element.name === 'line-crossing'
      ? { ...element, config: { [channel.source]: lineNamed(name) } }
      : element,
  )
  const startedAt = performance.now()
  await engine.pipeline.modify(pipeline.id, { elements })
  const answeredMs = performance.now() - startedAt
  while (!JSON.stringify(await engine.channelStatic(channel.id)).includes(`"${name}"`));
  return { answeredMs, appliedMs: performance.now() - startedAt }
}
