import { FrameDroppedError } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import {
  type CrashRecord,
  isQuarantined,
  type Quarantine,
  type StoredModel,
} from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import type { Scheduler } from './scheduler.ts'
import type {
  CropModelCard,
  CropRequest,
  LoadRequest,
  RunRequest,
  WorkerAnswer,
  WorkerRequest,
} from './worker-messages.ts'
import { WorkerExitError, type WorkerProcess } from './worker-process.ts'

/**
 * The right to run a model that is loaded in the inference workers. The model remains loaded until
 * all of its leases are released.
 */
export interface ModelLease {
  isLoadedOn(worker: WorkerProcess): boolean
  run(worker: WorkerProcess, frame: Omit<RunRequest, 'type' | 'model'>): Promise<WorkerAnswer>
  runOnCrop(worker: WorkerProcess, crop: Omit<CropRequest, 'type' | 'model'>): Promise<WorkerAnswer>
  /** Resolves when all workers have loaded the model, or have failed to. */
  readonly spread: Promise<void>
  /** Resolves with the reason when the model can no longer be used. */
  readonly revoked: Promise<Error>
  release(): void
}

export interface ModelRegistryOptions {
  /** The running workers. */
  workers(): readonly WorkerProcess[]
  scheduler: Scheduler<WorkerProcess>
  quarantine: Quarantine
  /** Returns what to do about a model in quarantine. */
  proposeRemedy?(model: string): string
  log: Log
}

/** A model of the store, or one that runs on parts of frames. */
export type LoadableModel = StoredModel | { card: CropModelCard; file: string }

/** A model on one execution provider. Detectors that use the same model share it. */
interface SharedModel {
  /** Identifies the model in messages to the workers. */
  id: number
  model: LoadableModel
  provider: Provider
  leaseCount: number
  loadedOn: Set<WorkerProcess>
  revoked: PromiseWithResolvers<Error>
  /** Resolves when the first worker has loaded the model. */
  loading: Promise<void>
  /** Resolves when the other workers have tried to load it, too. */
  spread: PromiseWithResolvers<void>
}

/**
 * The models that are loaded in the inference workers. A model that repeatedly crashes its worker
 * is put in quarantine and cannot be loaded again.
 */
export class ModelRegistry {
  readonly #options: ModelRegistryOptions
  readonly #models = new Map<string, SharedModel>()
  #lastId = 0

  constructor(options: ModelRegistryOptions) {
    this.#options = options
  }

  /**
   * Loads the model unless it is loaded already. Rejects with the reason if the model is in
   * quarantine or fails to load.
   */
  async acquire(model: LoadableModel, provider: Provider): Promise<ModelLease> {
    const crash = this.#options.quarantine.findCrashes(model.card.sha256)
    if (crash && isQuarantined(crash)) throw this.#describeCrash(crash)

    const shared = this.#models.get(toKey({ model, provider })) ?? this.#add(model, provider)
    shared.leaseCount++
    try {
      await shared.loading
    } catch (error) {
      this.#release(shared)
      throw error
    }

    return {
      isLoadedOn: worker => shared.loadedOn.has(worker),
      run: (worker, frame) =>
        this.#request(shared, worker, { type: 'run', model: shared.id, ...frame }),
      spread: shared.spread.promise,
      revoked: shared.revoked.promise,
      runOnCrop: (worker, crop) =>
        this.#request(shared, worker, { type: 'crop', model: shared.id, ...crop }),
      release: () => this.#release(shared),
    }
  }

  /** The models that are loaded on at least one worker. */
  list(): { name: string; provider: Provider }[] {
    return [...this.#models.values()]
      .filter(({ loadedOn }) => loadedOn.size > 0)
      .map(({ model, provider }) => ({ name: model.card.name, provider }))
  }

  /** Loads all models on a new worker. */
  async loadAllOn(worker: WorkerProcess): Promise<void> {
    for (const shared of [...this.#models.values()]) {
      try {
        await this.#loadOn(shared, worker)
      } catch (error) {
        this.#logLoadFailure(error)
        if (shared.loadedOn.size === 0) this.#revoke(shared, error as Error)
      }
    }
  }

  /**
   * Loads all models on a worker that does not process frames yet. Rejects with the reason
   * if one fails to load.
   */
  async prepareWorker(worker: WorkerProcess): Promise<void> {
    try {
      for (const shared of [...this.#models.values()]) {
        await this.#request(shared, worker, toLoadRequest(shared))
        shared.loadedOn.add(worker)
      }
    } catch (error) {
      this.removeWorker(worker)
      throw error
    }
  }

  /** Must be called after a worker has exited. */
  removeWorker(worker: WorkerProcess): void {
    for (const shared of this.#models.values()) shared.loadedOn.delete(worker)
  }

  #add(model: LoadableModel, provider: Provider): SharedModel {
    const shared: SharedModel = {
      id: ++this.#lastId,
      model,
      provider,
      leaseCount: 0,
      loadedOn: new Set(),
      revoked: Promise.withResolvers(),
      loading: Promise.resolve(),
      spread: Promise.withResolvers(),
    }
    this.#models.set(toKey(shared), shared)
    shared.loading = this.#load(shared)
    return shared
  }

  async #load(shared: SharedModel): Promise<void> {
    // Models are spread over the workers, so that several models load in parallel.
    const workers = this.#options.workers()
    const firstWorker = workers[shared.id % workers.length]
    if (!firstWorker) throw new Error('no inference worker is running: try again in a moment')

    await this.#loadOn(shared, firstWorker)
    void this.#loadOnOtherWorkers(shared).then(shared.spread.resolve)
  }

  /**
   * Loads the model on one worker after the other, so that the remaining workers can process
   * frames in the meantime.
   */
  async #loadOnOtherWorkers(shared: SharedModel): Promise<void> {
    for (const worker of [...this.#options.workers()]) {
      const isNeeded = this.#isRegistered(shared) && !shared.loadedOn.has(worker)
      if (isNeeded) await this.#loadOn(shared, worker).catch(error => this.#logLoadFailure(error))
    }
  }

  #loadOn(shared: SharedModel, worker: WorkerProcess): Promise<void> {
    return this.#options.scheduler.runOn(worker, async () => {
      await this.#request(shared, worker, toLoadRequest(shared))
      shared.loadedOn.add(worker)
    })
  }

  #release(shared: SharedModel): void {
    shared.leaseCount--
    if (shared.leaseCount > 0) return

    this.#remove(shared)
    // The scheduler runs the job between two frames: a worker must not unload a
    // model that is running.
    const unload = async (worker: WorkerProcess) =>
      worker.notify({ type: 'unload', model: shared.id })
    for (const worker of this.#options.workers()) {
      this.#options.scheduler.runOn(worker, unload).catch(() => {})
    }
  }

  async #request(
    shared: SharedModel,
    worker: WorkerProcess,
    message: WorkerRequest,
  ): Promise<WorkerAnswer> {
    try {
      return await worker.request(message)
    } catch (error) {
      if (error instanceof WorkerExitError) throw this.#handleExit(shared, error, message)
      // ONNX Runtime writes several lines, which would tear tables and logs apart.
      const reason = (error as Error).message.replaceAll(/\s+/g, ' ')
      throw new Error(`model ${shared.model.card.name}: ${reason}`)
    }
  }

  /**
   * Handles the exit of a worker during a request and returns the error to throw. A crash counts
   * against the model; a model in quarantine is revoked. Otherwise only the current frame is lost;
   * the crash is the `cause` of the error.
   */
  #handleExit(shared: SharedModel, exit: WorkerExitError, message: WorkerRequest): Error {
    const { quarantine, log } = this.#options
    const cause = `${exit.message} on ${message.type}`
    let reason = new Error(`an inference worker exited (${cause})`)

    if (exit.isCrash) {
      const crash = quarantine.addCrash(shared.model.card, cause)
      reason = this.#describeCrash(crash)
      log.error({ err: reason, ...crash }, 'model crashed its inference worker')
      if (isQuarantined(crash)) {
        this.#revoke(shared, reason)
        return reason
      }
    }
    if (message.type === 'load') return reason
    const dropped = new FrameDroppedError(message.n)
    if (exit.isCrash) dropped.cause = reason
    return dropped
  }

  #describeCrash(crash: CrashRecord): Error {
    const { model, crashes, last } = crash
    if (!isQuarantined(crash)) {
      return new Error(`model ${model} crashed its inference worker (${last})`)
    }
    const { proposeRemedy = proposeReplacement } = this.#options
    return new Error(
      `model ${model} is in quarantine: it crashed its worker ${crashes} times (${last}). ${proposeRemedy(model)}`,
    )
  }

  #revoke(shared: SharedModel, reason: Error): void {
    this.#remove(shared)
    shared.revoked.resolve(reason)
  }

  #remove(shared: SharedModel): void {
    if (this.#isRegistered(shared)) this.#models.delete(toKey(shared))
  }

  #isRegistered(shared: SharedModel): boolean {
    return this.#models.get(toKey(shared)) === shared
  }

  #logLoadFailure(error: unknown): void {
    this.#options.log.warn({ err: error }, 'failed to load model on inference worker')
  }
}

const toLoadRequest = ({ id, model, provider }: SharedModel): LoadRequest => ({
  type: 'load',
  model: id,
  card: model.card,
  file: model.file,
  provider,
})

/**
 * Includes the complete model card (its description): a model with other labels or another
 * input is another model.
 */
function toKey({ model, provider }: Pick<SharedModel, 'model' | 'provider'>): string {
  return JSON.stringify([model, provider])
}

const proposeReplacement = (model: string) =>
  `Replace it by another file with "eyrie model add ${model} --file …", or remove it with "eyrie model remove ${model}"`
