import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { ModelCard } from '@eyrie/contract/model'
import { createLog } from '@eyrie/kit'
import {
  addModel,
  openModelStore,
  openQuarantine,
  PUBLISHED_MODELS,
  SHIPPED_MODELS,
  type StoredModel,
} from '@eyrie/model-store'
import { createInference } from '../../services/engine/inference/inference.ts'
import { toPixelFormat } from '../../services/engine/inference/model-view.ts'
import { createTestRing } from '../fixtures/media/test-ring.ts'
import { findTestData } from '../fixtures/requirements/test-data.ts'
import { type Bench, median } from './bench.ts'

/**
 * Many short rounds, compared in pairs: other load on the machine affects both
 * halves of a pair alike.
 */
const ROUNDS = 15
const ROUND_MS = 1000
const workers = availableParallelism()
const thresholds = { score_threshold: 0.3, iou_threshold: 0.3 }

/**
 * Input of the bare loop: the same model, picture and decoding of outputs as in Eyrie's workers.
 */
export interface InferenceTask {
  card: ModelCard
  file: string
  size: { width: number; height: number }
  picture: Uint8Array
  thresholds: typeof thresholds
}

/** Runs inferences between start and stop, and counts them. */
interface Contestant {
  start(): void
  stop(): Promise<number>
  close(): Promise<void>
}

export const bench: Bench = {
  name: 'throughput of inference from a ring against a bare ONNX Runtime loop',
  limit: { min: 0.9 },

  async run() {
    const folder = mkdtempSync('/dev/shm/eyrie-bench-')
    const log = createLog('bench', 'silent')
    const root = join(folder, 'models')
    const models = await openModelStore({ roots: [root, SHIPPED_MODELS], log })
    try {
      const model = await provideModel(root, models.get('scene-detector'))
      const size = {
        width: model.card.input.width,
        height: Math.ceil((model.card.input.width * 9) / 16 / 32) * 32,
      }
      const picture = new Uint8Array(3 * size.width * size.height).map((_, i) => (i * 7919) % 251)
      const task: InferenceTask = { card: model.card, file: model.file, size, picture, thresholds }

      const eyrie = await startEyrie(folder, task)
      const bare = await startBare(task)
      const [ours, theirs] = [[] as number[], [] as number[]]
      for (let round = 0; round < ROUNDS; round++) {
        const pair = round % 2 ? [eyrie, bare] : [bare, eyrie]
        for (const contestant of pair) {
          ;(contestant === eyrie ? ours : theirs).push(await measureRate(contestant))
        }
      }
      await Promise.all([bare.close(), eyrie.close()])
      return {
        samples: ours.map((rate, round) => rate / theirs[round]!),
        loads: [],
        detail:
          `${model.card.name} at ${size.width}x${size.height} on ${workers} workers: ` +
          `${median(ours).toFixed(1)} against ${median(theirs).toFixed(1)} inferences/s`,
      }
    } finally {
      models.close()
      rmSync(folder, { recursive: true })
    }
  },
}

/** YOLOX-nano if the test data is installed, else the detector that ships with Eyrie. */
async function provideModel(root: string, shipped: StoredModel | undefined): Promise<StoredModel> {
  const yolox = findTestData('models/yolox_nano.onnx')
  if (yolox) {
    return addModel(root, {
      ...PUBLISHED_MODELS['yolox-nano']!.options,
      name: 'bench',
      model: readFileSync(yolox),
    })
  }
  if (shipped) return shipped
  throw new Error('no model to run: set EYRIE_TEST_DATA')
}

async function measureRate(contestant: Contestant): Promise<number> {
  const startedAt = performance.now()
  contestant.start()
  await wait(ROUND_MS)
  const count = await contestant.stop()
  return (count / (performance.now() - startedAt)) * 1000
}

/**
 * Frames pass scheduler, workers and ring; two per worker are in flight, as in a channel that
 * analyses every frame.
 */
async function startEyrie(
  folder: string,
  { card, file, size, picture }: InferenceTask,
): Promise<Contestant> {
  const inference = await createInference({
    models: { get: () => ({ card, file, folder }), onChange: () => () => {} },
    quarantine: openQuarantine(folder),
    folders: [folder, dirname(file)],
    log: createLog('bench', 'silent'),
    workers,
  })
  const ring = createTestRing(join(folder, 'ring'), {
    ...size,
    format: toPixelFormat(card.input),
    payloadSize: picture.length,
  })
  ring.write(1, picture)
  const client = { channel: 1, pacing: 'all' as const, priority: () => 5, findRing: () => ring }
  const detector = await inference
    .forChannel(client)
    .open({ model: card.name, hw: 'cpu', mode: 'a' })
  const frame = {
    n: 1,
    pts: 0,
    time: 0,
    discontinuity: false,
    width: 768,
    height: 432,
    objects: [],
    lowScoreObjects: [],
    counters: {},
  }

  let running = false
  let lanes: Promise<number>[] = []
  const lane = async () => {
    let count = 0
    for (; running; count++) await detector.detect(frame, thresholds)
    return count
  }
  return {
    start: () => {
      running = true
      lanes = Array.from({ length: 2 * workers }, lane)
    },
    stop: async () => {
      running = false
      return sum(await Promise.all(lanes))
    },
    close: async () => {
      detector.close()
      await inference.stop()
      ring.close()
    },
  }
}

async function startBare(task: InferenceTask): Promise<Contestant> {
  const url = new URL('./bare-inference.ts', import.meta.url)
  const threads = Array.from({ length: workers }, () => new Worker(url, { workerData: task }))
  await Promise.all(threads.map(thread => once(thread, 'message')))
  const post = (message: 'start' | 'stop') => {
    for (const thread of threads) thread.postMessage(message)
  }
  return {
    start: () => post('start'),
    stop: async () => {
      post('stop')
      const counts = await Promise.all(threads.map(thread => once(thread, 'message')))
      return sum(counts.map(([count]) => count as number))
    },
    close: async () => {
      await Promise.all(threads.map(thread => thread.terminate()))
    },
  }
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
