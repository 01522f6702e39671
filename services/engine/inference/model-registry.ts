import { FrameDroppedError } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import { type CrashRecord, isQuarantined, type Quarantine, type StoredModel } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import type { Scheduler } from './scheduler.ts'
import type { WorkerAnswer, WorkerRequest } from './worker-messages.ts'
import { WorkerExitError, type WorkerProcess } from './worker-process.ts'

export interface ModelRegistryOptions {
  workers(): readonly WorkerProcess[]
  scheduler: Scheduler<WorkerProcess>
  quarantine: Quarantine
  log: Log
}

type RunRequest = Extract<WorkerRequest, { type: 'run' }>

/** Keeps a model loaded on the workers until it is released. */
export interface ModelLease {
  isLoadedOn(worker: WorkerProcess): boolean
  run(worker: WorkerProcess, frame: Omit<RunRequest, 'type' | 'model'>): Promise<WorkerAnswer>
  /** Resolves with the reason when the model can no longer be used. */
  readonly revoked: Promise<Error>
  release(): void
}

/** Tracks and loads the models in the memory of the workers. */
export interface ModelRegistry {
  /** Loads the model if necessary. Rejects with the reason if it cannot be used. */
  acquire(model: StoredModel, provider: Provider): Promise<ModelLease>
  /** The models that are loaded on at least one worker. */
  list(): { name: string; provider: Provider }[]
  /** Loads all models on a new worker. */
  loadAllOn(worker: WorkerProcess): Promise<void>
  /** Must be called after a worker has exited. */
  removeWorker(worker: WorkerProcess): void
}

interface Entry {
  id: number
  model: StoredModel
  provider: Provider
  leases: number
  loadedOn: Set<WorkerProcess>
  revoked: PromiseWithResolvers<Error>
  /** Resolves when the first worker has loaded the model. */
  loading: Promise<void>
}

export function createModelRegistry({
  workers,
  scheduler,
  quarantine,
  log,
}: ModelRegistryOptions): ModelRegistry {
  const entries = new Map<string, Entry>()
  let lastId = 0

  const request = async (
    entry: Entry,
    worker: WorkerProcess,
    message: WorkerRequest,
  ): Promise<WorkerAnswer> => {
    try {
      return await worker.request(message)
    } catch (error) {
      if (error instanceof WorkerExitError) throw handleExit(entry, error, message)
      throw new Error(`model ${entry.model.card.name}: ${(error as Error).message}`)
    }
  }

  /** Records a crash. Only a quarantined model becomes unusable; otherwise just the frame is lost. */
  const handleExit = (entry: Entry, exit: WorkerExitError, message: WorkerRequest): Error => {
    const cause = `${exit.message} on ${message.type}`
    const crash = exit.isCrash ? quarantine.addCrash(entry.model.card, cause) : undefined
    const reason = crash ? describeCrash(crash) : new Error(`an inference worker exited (${cause})`)
    if (crash) log.error({ err: reason, ...crash }, 'model crashed its inference worker')
    if (crash && isQuarantined(crash)) revoke(entry, reason)
    else if (message.type === 'run') return new FrameDroppedError(message.n)
    return reason
  }

  const revoke = (entry: Entry, reason: Error) => {
    remove(entry)
    entry.revoked.resolve(reason)
  }

  const remove = (entry: Entry) => {
    if (isRegistered(entry)) entries.delete(toKey(entry))
  }

  const isRegistered = (entry: Entry) => entries.get(toKey(entry)) === entry

  const loadOn = (entry: Entry, worker: WorkerProcess) =>
    scheduler.runOn(worker, async () => {
      const { id, model, provider } = entry
      await request(entry, worker, { type: 'load', model: id, card: model.card, file: model.file, provider })
      entry.loadedOn.add(worker)
    })

  const load = async (entry: Entry) => {
    const first = workers()[entry.id % workers().length]
    if (!first) throw new Error('no inference worker is running: try again in a moment')
    await loadOn(entry, first)
    void loadOnOthers(entry)
  }

  /** Loads on one worker after the other, so that the rest can continue with frames of other channels. */
  const loadOnOthers = async (entry: Entry) => {
    for (const worker of [...workers()])
      if (isRegistered(entry) && !entry.loadedOn.has(worker))
        await loadOn(entry, worker).catch(error => log.warn({ err: error }, LOAD_FAILED))
  }

  const create = (model: StoredModel, provider: Provider): Entry => {
    const entry: Entry = {
      id: ++lastId,
      model,
      provider,
      leases: 0,
      loadedOn: new Set(),
      revoked: Promise.withResolvers(),
      loading: Promise.resolve(),
    }
    entries.set(toKey(entry), entry)
    entry.loading = load(entry)
    return entry
  }

  const release = (entry: Entry) => {
    entry.leases--
    if (entry.leases > 0) return
    remove(entry)
    // Scheduled as a job: a worker must not unload a model in the middle of a frame.
    const unload = async (worker: WorkerProcess) => worker.notify({ type: 'unload', model: entry.id })
    for (const worker of workers()) scheduler.runOn(worker, unload).catch(() => {})
  }

  return {
    acquire: async (model, provider) => {
      const crash = quarantine.findCrashes(model.card.sha256)
      if (crash && isQuarantined(crash)) throw describeCrash(crash)

      const entry = entries.get(toKey({ model, provider })) ?? create(model, provider)
      entry.leases++
      try {
        await entry.loading
      } catch (error) {
        release(entry)
        throw error
      }
      return {
        isLoadedOn: worker => entry.loadedOn.has(worker),
        run: (worker, frame) => request(entry, worker, { type: 'run', model: entry.id, ...frame }),
        revoked: entry.revoked.promise,
        release: () => release(entry),
      }
    },
    list: () =>
      [...entries.values()]
        .filter(({ loadedOn }) => loadedOn.size > 0)
        .map(({ model, provider }) => ({ name: model.card.name, provider })),
    loadAllOn: async worker => {
      for (const entry of [...entries.values()])
        await loadOn(entry, worker).catch(error => {
          log.warn({ err: error }, LOAD_FAILED)
          if (entry.loadedOn.size === 0) revoke(entry, error)
        })
    },
    removeWorker: worker => {
      for (const entry of entries.values()) entry.loadedOn.delete(worker)
    },
  }
}

const LOAD_FAILED = 'failed to load model on inference worker'

/** A changed card makes another model: its labels or its input may differ. */
const toKey = ({ model, provider }: Pick<Entry, 'model' | 'provider'>) => JSON.stringify([model, provider])

function describeCrash(crash: CrashRecord): Error {
  const { model, crashes, last } = crash
  if (!isQuarantined(crash)) return new Error(`model ${model} crashed its inference worker (${last})`)
  return new Error(
    `model ${model} is in quarantine: it crashed its worker ${crashes} times (${last}). ` +
      `Replace it by another file with "eyrie model add ${model} --file …", or remove it with "eyrie model remove ${model}"`,
  )
}
