import { availableParallelism } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { CatalogDevice, Pacing } from '@eyrie/contract'
import type { ModelCard } from '@eyrie/contract/model'
import type { ViewSpec } from '@eyrie/contract/view'
import { type Detector, FrameDroppedError, type Inference, type ModelRequest } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import type { ModelStore, Quarantine } from '@eyrie/model-store'
import type { RingPlace } from '../frames/ring-reader.ts'
import { deviceOf, providerOf, typesOf } from './devices.ts'
import { followModel } from './followed-model.ts'
import { createLoadedModels } from './loaded-models.ts'
import { createScheduler } from './scheduler.ts'
import { viewOf } from './view.ts'
import { startPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

const REQUEST_TIMEOUT_MS = 30_000

/** A model as it runs: its cost depends on all of these. */
export interface InferenceRun {
  /** Of the model file. */
  sha256: string
  device: string
  /** Of the picture that the model reads, in pixels. */
  size: { width: number; height: number }
}

/** Receives the CPU time of each inference, in ms. */
export interface InferenceCosts {
  inferred(run: InferenceRun, ms: number): void
}

export interface InferenceOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  quarantine: Quarantine
  log: Log
  /** Worker processes; one a core by default. */
  workers?: number
  costs?: InferenceCosts | undefined
}

/** A channel as the inference workers see it. */
export interface InferenceClient {
  channel: number
  /** With `realtime` a waiting frame is replaced by a newer one of its channel; with `all` none is. */
  pacing: Pacing
  /** Of the channel's pipeline, 0 to 9; it may change at any time. */
  priority(): number
  /** A frame was dropped in favour of pipelines of higher priority. */
  onYield?(): void
  /** Called for every frame; undefined while media has not made the view. */
  ringOf(view: ViewSpec): RingPlace | undefined
}

/** Runs the engine's models in worker processes. */
export interface InferencePool {
  /** How many frames can be inferred at the same time. */
  readonly workers: number
  forChannel(client: InferenceClient): Inference
  /** Devices that models can run on; always includes `cpu`. */
  devices(): CatalogDevice[]
  /** Names of the models in memory. */
  loadedModels(): string[]
  /** For support: the workers and their execution providers. */
  dump(): { pid: number; providers: string[] }[]
  stop(): Promise<void>
}

/** Starts the workers. Throws if they cannot be started at all. */
export async function createInference(options: InferenceOptions): Promise<InferencePool> {
  const { models, quarantine, log, costs, workers: count = availableParallelism() } = options
  const scheduler = createScheduler<WorkerProcess>()
  const loaded = createLoadedModels({ workers: () => pool.workers(), scheduler, quarantine, log })
  const pool = await startPool({
    count,
    timeoutMs: REQUEST_TIMEOUT_MS,
    scheduler,
    log,
    onDeath: loaded.forget,
    onReplacement: loaded.restoreOn,
  })
  const providers = pool.workers()[0]?.providers ?? []

  const open = async (request: ModelRequest, client: InferenceClient): Promise<Detector> => {
    const model = models.get(request.model)
    if (!model)
      throw new Error(
        `there is no model ${request.model}: "eyrie model list" shows what is there, "eyrie model add" adds one`,
      )
    const provider = providerOf(request.hw, providers)
    const view = viewOf(model.card.input, request.size)
    const fits = ({ input }: ModelCard) => isDeepStrictEqual(viewOf(input, request.size), view)
    const hold = await followModel(model, { models, loaded, provider, fits, log })
    const { pacing, priority, onYield } = client
    const lane = scheduler.open({ mode: request.mode, pacing, priority, onYield, isReady: hold.isReadyOn })
    hold.lost.then(lane.close)
    let closed = false
    let lastPath: string | undefined
    /** Workers keep a ring open until they are told that nobody reads it here any more. */
    const moveTo = (path: string | undefined) => {
      if (lastPath && lastPath !== path)
        for (const worker of pool.workers()) worker.tell({ type: 'forget', ring: lastPath })
      lastPath = path
    }

    return {
      view,
      detect: ({ n }, thresholds) =>
        lane.submit(n, async worker => {
          const ring = client.ringOf(view)
          if (!ring) throw new FrameDroppedError(n)
          moveTo(ring.path)
          const run = { sha256: hold.card.sha256, device: deviceOf(provider) }
          const answer = await hold.run(worker, { ring, n, thresholds })
          if (answer.type !== 'objects') throw new FrameDroppedError(n)
          costs?.inferred({ ...run, size: answer.size }, answer.cpuMs)
          return answer.objects
        }),
      close: () => {
        if (closed) return
        closed = true
        lane.close(new Error('the detector is closed'))
        hold.release()
        moveTo(undefined)
      },
    }
  }

  return {
    workers: count,
    forChannel: client => ({ open: request => open(request, client) }),
    devices: () =>
      typesOf(providers).map(({ type, provider }) => ({
        type,
        current_models: loaded.list().filter(model => model.provider === provider).length,
      })),
    loadedModels: () => [...new Set(loaded.list().map(({ name }) => name))],
    dump: () => pool.workers().map(({ pid, providers }) => ({ pid, providers })),
    stop: pool.stop,
  }
}
