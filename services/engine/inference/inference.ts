import { availableParallelism } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { CatalogDevice, Isolation, Pacing } from '@eyrie/contract'
import type { ViewSpec } from '@eyrie/contract/view'
import {
  type Detections,
  type Detector,
  FrameDroppedError,
  type Inference,
  type ModelRequest,
  type Thresholds,
} from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import type { ModelStore, Quarantine } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import type { RingLocation } from '../frames/ring-reader.ts'
import { listDevices, selectProvider, toDeviceType } from './devices.ts'
import { findModel } from './find-model.ts'
import { followModel } from './followed-model.ts'
import { openModelQueue } from './model-queue.ts'
import { ModelRegistry } from './model-registry.ts'
import { toModelView } from './model-view.ts'
import { Scheduler } from './scheduler.ts'
import { startWorkerPool, type WorkerPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

/**
 * Inference for the elements (steps) of all channels. An element opens a detector for a model; the detector runs the model
 * on frames in one of the worker processes, which all channels share.
 */

const REQUEST_TIMEOUT_MS = 30_000

/** The properties that determine the cost of running a model on one frame. */
export interface InferenceRun {
  /** Hash of the ONNX file. */
  sha256: string
  device: string
  /** Size of the model's input in pixels. */
  size: { width: number; height: number }
}

/** Receives the CPU time of each inference, in ms. */
export interface InferenceCosts {
  recordInference(run: InferenceRun, ms: number): void
}

export interface InferenceOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  quarantine: Quarantine
  /** The folders of the models and of the frame rings, which must exist. Workers can read no others. */
  folders: readonly string[]
  log: Log
  /** Number of worker processes; one per core by default. */
  workers?: number
  costs?: InferenceCosts | undefined
}

/** A channel that uses inference. */
export interface InferenceClient {
  channel: number
  /** `realtime`: a newer frame of the channel replaces a waiting frame. `all`: every frame is processed. */
  pacing: Pacing
  /** Current priority of the channel's pipeline, 0 to 9. */
  priority(): number
  /** Called when a frame was dropped in favour of pipelines of higher priority. */
  onYield?(): void
  /**
   * Returns the frame ring (buffer in shared memory) with the pictures of a view, which is a picture size and pixel format.
   * Undefined until the media service has created it.
   */
  findRing(view: ViewSpec): RingLocation | undefined
}

/** The worker processes that run models. */
export interface InferencePool {
  /** Number of frames that can be processed in parallel. */
  readonly workers: number
  forChannel(client: InferenceClient): Inference
  /** Devices that models can run on; always includes `cpu`. */
  devices(): CatalogDevice[]
  /** The boundaries around the workers. */
  isolation(): Isolation
  /** Names of the loaded models. */
  loadedModels(): string[]
  /** The workers and their execution providers, for support bundles. */
  dump(): { pid: number; providers: string[] }[]
  stop(): Promise<void>
}

/**
 * Starts the first worker, which shows what workers on this machine can do; the others start with the first detector. Throws an
 * `Error` if it fails to start.
 */
export async function createInference(options: InferenceOptions): Promise<InferencePool> {
  const { models, quarantine, folders, log, costs, workers: count = availableParallelism() } = options
  const scheduler = new Scheduler<WorkerProcess>()
  const registry = new ModelRegistry({ workers: () => pool.workers(), scheduler, quarantine, log })
  const pool = await startWorkerPool({
    count,
    timeoutMs: REQUEST_TIMEOUT_MS,
    folders,
    scheduler,
    log,
    onExit: worker => registry.removeWorker(worker),
    onReplacement: worker => registry.loadAllOn(worker),
  })
  // All workers run on the same machine and therefore have the same providers and boundaries.
  const { providers, isolation } = pool.workers()[0]!
  const context: DetectorContext = { models, registry, scheduler, pool, providers, costs, log }

  return {
    workers: count,
    forChannel: client => ({ open: request => openDetector(request, client, context) }),
    devices: () => {
      const loaded = registry.list()
      return listDevices(providers).map(({ type, provider }) => ({
        type,
        current_models: loaded.filter(model => model.provider === provider).length,
        isolation: isolation.level,
      }))
    },
    isolation: () => isolation,
    loadedModels: () => [...new Set(registry.list().map(({ name }) => name))],
    dump: () => pool.workers().map(({ pid, providers }) => ({ pid, providers })),
    stop: pool.stop,
  }
}

interface DetectorContext extends Pick<InferenceOptions, 'models' | 'costs' | 'log'> {
  registry: ModelRegistry
  scheduler: Scheduler<WorkerProcess>
  pool: WorkerPool
  /** The execution providers of the workers. */
  providers: readonly Provider[]
}

async function openDetector(
  request: ModelRequest,
  client: InferenceClient,
  context: DetectorContext,
): Promise<Detector> {
  const { models, registry, scheduler, pool, providers, costs, log } = context
  const model = findModel(models, request.model)
  await pool.startAll()
  const provider = selectProvider(request.hw, providers)
  const device = toDeviceType(provider)
  const view = toModelView(model.card.input, request.size)
  const lease = await followModel(model, {
    models,
    registry,
    provider,
    isCompatible: ({ input }) => isDeepStrictEqual(toModelView(input, request.size), view),
    log,
  })

  const { pacing, priority, onYield } = client
  const queue = openModelQueue({
    lease,
    pool,
    scheduler,
    findRing: () => client.findRing(view),
    mode: request.mode,
    pacing,
    priority,
    onYield,
  })

  async function detectOn(worker: WorkerProcess, n: number, thresholds: Thresholds): Promise<Detections> {
    const ring = queue.openRing(n)
    // Read before the inference, during which the model may be replaced.
    const { sha256 } = lease.card
    const answer = await lease.run(worker, { ring, n, thresholds })
    if (answer.type !== 'detections') throw new FrameDroppedError(n)

    costs?.recordInference({ sha256, device, size: answer.size }, answer.cpuMs)
    return answer.detections
  }

  return {
    view,
    detect: ({ n }, thresholds) => queue.submit(n, worker => detectOn(worker, n, thresholds)),
    close: () => queue.close('the detector is closed'),
  }
}
