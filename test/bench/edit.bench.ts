import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@eyrie/client'
import { startEngineProcess } from '../fixtures/engine-process.ts'
import { startMedia } from '../fixtures/media.ts'
import { makeVideo } from '../fixtures/video.ts'
import { type Bench, median } from './bench.ts'
import { deployFifty, lineNamed, PIPELINES } from './fifty-pipelines.ts'

const edits = 40
const rate = 5

/**
 * All pipelines run on real media: ten looped videos of 320x240, five pipelines on each. An edit gives one of them
 * another line. It is applied when the channel's own metadata show that line: then the answer has come, the
 * configuration is on disk, and the elements of the channel that is at work have been opened with it.
 */
export const bench: Bench = {
  name: `an edit of one pipeline out of ${PIPELINES}, from the request to the channel that works by it`,
  limit: { atMost: 100 },
  unit: ' ms',

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-edit-'))
    const video = join(folder, 'video.mp4')
    makeVideo(video, { frames: 300, fps: rate, keyframeInterval: rate })
    const media = await startMedia({ EYRIE_MEDIA_ROOTS: folder })
    const engine = await startEngineProcess({
      data: join(folder, 'data'),
      mediaUrl: media.url,
      variables: { EYRIE_MEDIA_ROOTS: folder },
    })
    try {
      // Addresses that differ, so that they are ten sources.
      const { pipelines } = await deployFifty(engine.api, index => ({
        type: 'inf',
        address: join(folder, './'.repeat(index), 'video.mp4'),
        rate: rate + index / 100,
      }))
      await untilRunning(
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
      const statistics = await Promise.all(pipelines.map(({ id }) => engine.api.pipelineStatistics(id)))
      const analysed = statistics.reduce((sum, { fps }) => sum + fps, 0)
      return {
        value: median(applied),
        detail: `${edits} edits; answered after ${median(answered).toFixed(1)} ms; slowest applied ${Math.max(...applied).toFixed(1)} ms; ${analysed.toFixed(0)} frames a second analysed meanwhile`,
      }
    } finally {
      await engine.stop()
      await media.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function untilRunning(engine: Client, pipelines: number[]): Promise<void> {
  for (const id of pipelines)
    while ((await engine.pipelineStatistics(id)).status !== 'running') await wait(100)
}

/** Gives a pipeline another line. Resolves with how long it took, in ms. */
async function edit(engine: Client, index: number, number: number) {
  const pipeline = (await engine.pipeline.list())[index]
  const { channels = [] } = await engine.getExports({ filter: ['channels'] })
  const channel = channels.find(each => each.pipeline === pipeline?.id)
  if (!pipeline || !channel) throw new Error(`there is no pipeline ${index}`)
  const name = `line ${number}`
  const elements = pipeline.elements.map(element =>
    element.name === 'line-crossing'
      ? { ...element, config: { [channel.source]: lineNamed(name) } }
      : element,
  )
  const began = performance.now()
  await engine.pipeline.modify(pipeline.id, { elements })
  const answeredMs = performance.now() - began
  while (!JSON.stringify(await engine.channelStatic(channel.id)).includes(`"${name}"`));
  return { answeredMs, appliedMs: performance.now() - began }
}
