import { availableParallelism } from 'node:os'
import type { CatalogDevice, Isolation } from '@eyrie/contract'
import type { ModelCard } from '@eyrie/contract/model'
import {
  type Detections,
  type Detector,
  type Frame,
  FrameDroppedError,
  type Inference,
  type ModelRequest,
  type Thresholds,
} from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import type { ModelStore, Quarantine, StoredModel } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import { DetectorView } from './detector-view.ts'
import { listDevices, selectProvider, toDeviceType } from './devices.ts'
import { findModel } from './find-model.ts'
import { followModel } from './followed-model.ts'
import type { DetectorObserver, InferenceClient } from './inference-client.ts'
import { provideWorkerCode } from './launch-worker.ts'
import { openModelQueue } from './model-queue.ts'
import { ModelRegistry } from './model-registry.ts'
import { toModelView } from './model-view.ts'
import { Scheduler } from './scheduler.ts'
import { startWorkerPool, type WorkerPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

/**
 * Inference for the elements (steps) of all channels. An element opens a detector for a model; the
 * detector runs the model on frames in one of the worker processes, which all channels share.
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
  /**
   * The folders of the models and of the frame rings, which must exist. Workers can read no others.
   */
  folders: readonly string[]
  log: Log
  /** Number of worker processes; one per core by default. */
  workers?: number
  /** How far other processes come first, 0 (the default) to 19. */
  niceness?: number
  /** Returns what to do about a model in quarantine. */
  proposeRemedy?(model: string): string
  costs?: InferenceCosts | undefined
}

/** The worker processes that run models. */
export interface InferencePool {
  /** Number of frames that can be processed in parallel. */
  readonly workers: number
  forChannel(client: InferenceClient): Inference
  /**
   * Loads a model on all workers, so that the detectors of the model `name` can continue with it at
   * their next frame. Rejects with the reason if it is in quarantine or fails to load. Returns a
   * function that releases it.
   */
  preload(model: StoredModel, name: string): Promise<() => Promise<void>>
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
 * Starts the first worker, which shows what workers on this machine can do; the others start with
 * the first detector. Throws an `Error` if it fails to start.
 */
export async function createInference(options: InferenceOptions): Promise<InferencePool> {
  const { models, quarantine, proposeRemedy, folders, niceness, log, costs } = options
  const { workers: count = availableParallelism() } = options
  const scheduler = new Scheduler<WorkerProcess>()
  const registry = new ModelRegistry({
    workers: () => pool.workers(),
    scheduler,
    quarantine,
    ...(proposeRemedy && { proposeRemedy }),
    log,
  })
  const pool = await startWorkerPool({
    count,
    timeoutMs: REQUEST_TIMEOUT_MS,
    folders,
    niceness,
    scheduler,
    log,
    onExit: worker => registry.removeWorker(worker),
    onReplacement: worker => registry.loadAllOn(worker),
  })
  // All workers run on the same machine and therefore have the same providers and boundaries.
  const { providers, isolation, isCompiled } = pool.workers()[0]!
  const stopStoringCode = isCompiled ? async () => {} : provideWorkerCode(log)
  const context: DetectorContext = { models, registry, scheduler, pool, providers, costs, log }

  /** Adds a worker while the others load a model, so that as many as before process frames. */
  async function addSpareWorker(): Promise<() => Promise<void>> {
    if (registry.list().length === 0) return async () => {}
    return pool
      .addExtra(worker => registry.prepareWorker(worker))
      .catch(error => {
        log.warn({ err: error }, 'failed to start a spare inference worker')
        return async () => {}
      })
  }

  return {
    workers: count,
    forChannel: client => ({ open: request => openObservedDetector(request, client, context) }),
    preload: async (model, name) => {
      await pool.startAll()
      const active = models.get(name)?.card.name
      const used = registry.list().filter(loaded => loaded.name === active)
      const targets =
        used.length > 0 ? used.map(({ provider }) => provider) : [selectProvider('auto', providers)]
      const removeSpare = await addSpareWorker()
      const acquired = await Promise.allSettled(
        targets.map(provider => registry.acquire(model, provider)),
      )
      const leases = acquired.flatMap(result =>
        result.status === 'fulfilled' ? [result.value] : [],
      )
      const release = async () => {
        for (const lease of leases) lease.release()
        await removeSpare()
      }
      await Promise.all(leases.map(({ spread }) => spread))
      const failed = acquired.find(result => result.status === 'rejected')
      if (!failed) return release
      await release()
      throw failed.reason
    },
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
    stop: async () => {
      await Promise.all([pool.stop(), stopStoringCode()])
    },
  }
}

interface DetectorContext extends Pick<InferenceOptions, 'models' | 'costs' | 'log'> {
  registry: ModelRegistry
  scheduler: Scheduler<WorkerProcess>
  pool: WorkerPool
  /** The execution providers of the workers. */
  providers: readonly Provider[]
}

async function openObservedDetector(
  request: ModelRequest,
  client: InferenceClient,
  context: DetectorContext,
): Promise<Detector> {
  const observer = client.observe?.(request)
  try {
    return await openDetector(request, client, context, observer)
  } catch (error) {
    const active = context.models.get(request.model)?.card.name
    observer?.onFailure(active ?? request.model, (error as Error).message)
    observer?.onClose()
    throw error
  }
}

async function openDetector(
  request: ModelRequest,
  client: InferenceClient,
  context: DetectorContext,
  observer: DetectorObserver | undefined,
): Promise<Detector> {
  const { models, registry, scheduler, pool, providers, costs, log } = context
  const model = findModel(models, request.model)
  await pool.startAll()
  const provider = selectProvider(request.hw, providers)
  const device = toDeviceType(provider)
  const toView = ({ input }: ModelCard) => toModelView(input, request.size)
  const view = new DetectorView(toView(model.card), client)
  const lease = await followModel(model, {
    name: request.model,
    models,
    registry,
    provider,
    prepare: card => view.prepare(toView(card)),
    onReplaced: () => view.adopt(),
    log,
  })

  const { pacing, priority, onYield } = client
  const queue = openModelQueue({
    lease,
    pool,
    scheduler,
    findRing: () => client.findRing(toView(lease.card)),
    mode: request.mode,
    pacing,
    priority,
    onYield,
  })

  async function detectOn(
    worker: WorkerProcess,
    frame: Frame,
    thresholds: Thresholds,
  ): Promise<Detections> {
    const { n } = frame
    const ring = queue.openRing(n)
    // Read before the inference, during which the model may be replaced.
    const { name, sha256 } = lease.card
    const answer = await lease.run(worker, { ring, n, thresholds }).catch(error => {
      const failure = findModelFailure(error)
      if (failure !== undefined) observer?.onFailure(name, failure)
      throw error
    })
    if (answer.type !== 'detections') throw new FrameDroppedError(n)

    const { detections, cpuMs } = answer
    costs?.recordInference({ sha256, device, size: answer.size }, cpuMs)
    observer?.onDetection({ frame, model: name, thresholds, detections, cpuMs })
    return detections
  }

  return {
    get view() {
      return view.current
    },
    detect: (frame, thresholds) =>
      view.track(queue.submit(frame.n, worker => detectOn(worker, frame, thresholds))),
    close: () => {
      queue.close('the detector is closed')
      view.close()
      observer?.onClose()
    },
  }
}

/**
 * Returns why a model has failed on a frame; undefined if the frame was dropped for another reason.
 */
function findModelFailure(error: Error): string | undefined {
  const failure = error instanceof FrameDroppedError ? (error.cause as Error | undefined) : error
  return failure?.message
}
