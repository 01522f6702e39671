import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { COMMUNITY_LICENSE } from '@eyrie/contract'
import { readModel, SHIPPED_MODELS } from '@eyrie/model-store'
import { DEMO } from '../../scene/demo.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { decodeFrames } from '../fixtures/media/decoded-frames.ts'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { startAppliance } from '../fixtures/processes/appliance.ts'
import { type Bench, median } from './bench.ts'
import type { InferenceTask } from './inference.bench.ts'

/**
 * Single rounds differ by 10 % and more on a shared machine; the median of seven by a few per cent.
 */
const rounds = 7
const frames = 1500
const workers = availableParallelism()
const size = { width: 768, height: 448 }
const thresholds = { score_threshold: 0.3, iou_threshold: 0.3 }

export const bench: Bench = {
  name: 'throughput of infer in a channel against a bare ONNX Runtime loop with the same decoding',
  limit: { min: 0.9 },

  async run() {
    const { folder, video } = await renderTestScene()
    const ours: number[] = []
    const bare: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await bareRate(video))
      ours.push(await channelRate(folder, video))
    }
    const ratios = ours.map((rate, round) => rate / bare[round]!)
    return {
      samples: ratios,
      loads: [],
      detail: `scene-detector at ${size.width}x${size.height}, ${workers} workers: ${median(ours).toFixed(1)} against ${median(bare).toFixed(1)} frames/s; ratios ${ratios.map(ratio => ratio.toFixed(3)).join(' ')}`,
    }
  },
}

/** Frames per second of a channel that analyses every frame of a file. */
async function channelRate(folder: string, video: string): Promise<number> {
  const appliance = await startAppliance({
    source: 'test://ball',
    settings: { engine: { pacing: 'all' } },
    environment: { EYRIE_MEDIA_ROOTS: folder },
  })
  try {
    await appliance.waitForLine(/ready: open/)
    const engine = createEngineClient(appliance)
    await engine.activate(COMMUNITY_LICENSE)
    const { pipelines } = await engine.deploy([
      {
        sources: [{ type: 'file', address: pathToFileURL(video).href }],
        elements: [{ name: 'infer', args: { model: 'scene-detector', ...thresholds } }],
      },
    ])
    // Polls the engine's own figure, a mean over ten seconds: a subscriber to every frame
    // would take CPU time.
    const [pipeline] = pipelines
    const readings: number[] = []
    for (;;) {
      await wait(500)
      const { status, fps } = await engine.pipelineStatistics(pipeline?.id ?? 0)
      // The last three seconds of readings: none of them includes the start.
      if (status === 'stopped') return median(readings.slice(-6))
      readings.push(fps)
    }
  } finally {
    await appliance.remove()
  }
}

/**
 * Frames per second of worker threads that run the same model, while gst-launch decodes and
 * scales the same file.
 */
async function bareRate(video: string): Promise<number> {
  const { card, file } = await readModel(join(SHIPPED_MODELS, 'scene-detector'))
  const { pixels } = decodeFrames(video, DEMO, size, '1/60')
  const task: InferenceTask = { card, file, size, picture: pixels[0] as Uint8Array, thresholds }
  const url = new URL('./bare-inference.ts', import.meta.url)
  const threads = Array.from({ length: workers }, () => new Worker(url, { workerData: task }))
  await Promise.all(threads.map(thread => once(thread, 'message')))
  const launch = `filesrc location=${video} ! qtdemux ! h264parse ! avdec_h264 ! queue max-size-buffers=2 ! videoscale ! video/x-raw,width=768,height=432 ! videoconvert ! video/x-raw,format=RGBP ! fakesink sync=false`
  const startedAt = performance.now()
  const decoding = once(
    spawn('gst-launch-1.0', ['-q', ...launch.split(' ')], { stdio: 'inherit' }),
    'exit',
  )
  const inferring = threads.map(thread => {
    thread.postMessage(Math.ceil(frames / workers))
    return once(thread, 'message')
  })
  await Promise.all([decoding, ...inferring])
  const result = (frames / (performance.now() - startedAt)) * 1000
  await Promise.all(threads.map(thread => thread.terminate()))
  return result
}
