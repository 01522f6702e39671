import { availableParallelism } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { CatalogDevice, Pacing } from '@eyrie/contract'
import type { ViewSpec } from '@eyrie/contract/view'
import { type Detector, FrameDroppedError, type Inference, type ModelRequest } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import type { ModelStore, Quarantine } from '@eyrie/model-store'
import type { RingLocation } from '../frames/ring-reader.ts'
import { listDevices, selectProvider, toDeviceType } from './devices.ts'
import { followModel } from './followed-model.ts'
import { createModelRegistry } from './model-registry.ts'
import { toModelView } from './model-view.ts'
import { createScheduler } from './scheduler.ts'
import { startWorkerPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

const REQUEST_TIMEOUT_MS = 30_000

/** Everything that the cost of an inference depends on. */
export interface InferenceRun {
  /** Of the model file. */
  sha256: string
  device: string
  /** Of the model's input, in pixels. */
  size: { width: number; height: number }
}

/** Receives the CPU time of each inference, in ms. */
export interface InferenceCosts {
  recordInference(run: InferenceRun, ms: number): void
}

export interface InferenceOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  quarantine: Quarantine
  log: Log
  /** Number of worker processes; one per core by default. */
  workers?: number
  costs?: InferenceCosts | undefined
}

/** A channel that uses inference. */
export interface InferenceClient {
  channel: number
  /** With `realtime` a newer frame of the channel replaces a waiting one; with `all` every frame is inferred. */
  pacing: Pacing
  /** Priority of the channel's pipeline, 0 to 9. It may change at any time. */
  priority(): number
  /** A frame was dropped in favour of pipelines of higher priority. */
  onYield?(): void
  /** Called for every frame; undefined while media has not made the view. */
  findRing(view: ViewSpec): RingLocation | undefined
}

/** Runs models in worker processes. */
export interface InferencePool {
  /** Number of frames that can be inferred in parallel. */
  readonly workers: number
  forChannel(client: InferenceClient): Inference
  /** Devices that models can run on; always includes `cpu`. */
  devices(): CatalogDevice[]
  /** Names of the models in memory. */
  loadedModels(): string[]
  /** For support bundles: the workers and their execution providers. */
  dump(): { pid: number; providers: string[] }[]
  stop(): Promise<void>
}

/** Starts the workers. Throws if they cannot be started. */
export async function createInference(options: InferenceOptions): Promise<InferencePool> {
  const { models, quarantine, log, costs, workers: count = availableParallelism() } = options
  const scheduler = createScheduler<WorkerProcess>()
  const registry = createModelRegistry({ workers: () => pool.workers(), scheduler, quarantine, log })
  const pool = await startWorkerPool({
    count,
    timeoutMs: REQUEST_TIMEOUT_MS,
    scheduler,
    log,
    onExit: registry.removeWorker,
    onReplacement: registry.loadAllOn,
  })
  const providers = pool.workers()[0]?.providers ?? []

  const openDetector = async (request: ModelRequest, client: InferenceClient): Promise<Detector> => {
    const model = models.get(request.model)
    if (!model)
      throw new Error(
        `there is no model ${request.model}: "eyrie model list" lists the available ones, "eyrie model add" adds one`,
      )
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
    const queue = scheduler.openQueue({
      mode: request.mode,
      pacing,
      priority,
      onYield,
      canRunOn: lease.isLoadedOn,
    })
    lease.revoked.then(queue.close)
    let isClosed = false
    let ringPath: string | undefined
    /** Workers keep a ring open until they are notified that this detector no longer reads it. */
    const switchRing = (path: string | undefined) => {
      if (ringPath && ringPath !== path)
        for (const worker of pool.workers()) worker.notify({ type: 'close-ring', ring: ringPath })
      ringPath = path
    }

    return {
      view,
      detect: ({ n }, thresholds) =>
        queue.submit(n, async worker => {
          const ring = client.findRing(view)
          if (!ring) throw new FrameDroppedError(n)
          switchRing(ring.path)
          // Read before the inference, during which the model may be replaced.
          const { sha256 } = lease.card
          const answer = await lease.run(worker, { ring, n, thresholds })
          if (answer.type !== 'objects') throw new FrameDroppedError(n)
          costs?.recordInference({ sha256, device, size: answer.size }, answer.cpuMs)
          return answer.objects
        }),
      close: () => {
        if (isClosed) return
        isClosed = true
        queue.close(new Error('the detector is closed'))
        lease.release()
        switchRing(undefined)
      },
    }
  }

  return {
    workers: count,
    forChannel: client => ({ open: request => openDetector(request, client) }),
    devices: () =>
      listDevices(providers).map(({ type, provider }) => ({
        type,
        current_models: registry.list().filter(model => model.provider === provider).length,
      })),
    loadedModels: () => [...new Set(registry.list().map(({ name }) => name))],
    dump: () => pool.workers().map(({ pid, providers }) => ({ pid, providers })),
    stop: pool.stop,
  }
}
