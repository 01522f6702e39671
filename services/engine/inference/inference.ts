import { availableParallelism } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { ModelCard } from '@eyrie/contract/model'
import { type Detector, FrameDroppedError, type ModelRequest } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import type { ModelStore, Quarantine } from '@eyrie/model-store'
import type { CostListener, InferenceClient, InferencePool } from '../ports.ts'
import { deviceOf, providerOf, typesOf } from './devices.ts'
import { followModel } from './followed-model.ts'
import { createLoadedModels } from './loaded-models.ts'
import { startPool } from './pool.ts'
import { createScheduler } from './scheduler.ts'
import { viewOf } from './view.ts'
import type { WorkerProcess } from './worker-process.ts'

const REQUEST_TIMEOUT_MS = 30_000

export interface InferenceOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  quarantine: Quarantine
  log: Log
  /** Worker processes; one a core by default. */
  workers?: number
  costs?: Pick<CostListener, 'inferred'>
}

/** The engine's models on its inference workers. */
export interface InferenceWorkers extends InferencePool {
  /** Names of the models loaded now. */
  loadedModels(): string[]
  /** For support: the workers and what they hold. */
  dump(): { pid: number; providers: string[] }[]
}

/** Starts the workers. Throws if they cannot be started at all. */
export async function createInference(options: InferenceOptions): Promise<InferenceWorkers> {
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
