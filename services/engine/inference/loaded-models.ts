import { FrameDroppedError } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import { type CrashRecord, isQuarantined, type Quarantine, type StoredModel } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import type { Scheduler } from './scheduler.ts'
import type { WorkerAnswer, WorkerRequest } from './worker-messages.ts'
import { WorkerDied, type WorkerProcess } from './worker-process.ts'

export interface LoadedModelsOptions {
  workers(): readonly WorkerProcess[]
  scheduler: Scheduler<WorkerProcess>
  quarantine: Quarantine
  log: Log
}

type RunRequest = Extract<WorkerRequest, { type: 'run' }>

/** A model that stays loaded on the workers for as long as somebody holds it. */
export interface ModelHold {
  isReadyOn(worker: WorkerProcess): boolean
  run(worker: WorkerProcess, frame: Omit<RunRequest, 'type' | 'model'>): Promise<WorkerAnswer>
  /** Resolves with the reason if the model cannot be used any more. */
  readonly lost: Promise<Error>
  release(): void
}

/** Which models the workers have in memory. */
export interface LoadedModels {
  /** Loads the model where it is not yet. Rejects with the reason why it cannot be used. */
  hold(model: StoredModel, provider: Provider): Promise<ModelHold>
  /** Those that a worker has in memory now. */
  list(): { name: string; provider: Provider }[]
  /** Loads on a new worker what the others have. */
  restoreOn(worker: WorkerProcess): Promise<void>
  /** The worker is gone, and its memory with it. */
  forget(worker: WorkerProcess): void
}

interface Entry {
  id: number
  model: StoredModel
  provider: Provider
  holds: number
  on: Set<WorkerProcess>
  lost: PromiseWithResolvers<Error>
  /** Until the first worker has it. */
  loading: Promise<void>
}

export function createLoadedModels({
  workers,
  scheduler,
  quarantine,
  log,
}: LoadedModelsOptions): LoadedModels {
  const entries = new Map<string, Entry>()
  let lastId = 0

  const ask = async (entry: Entry, worker: WorkerProcess, request: WorkerRequest): Promise<WorkerAnswer> => {
    try {
      return await worker.ask(request)
    } catch (error) {
      if (error instanceof WorkerDied) throw afterDeath(entry, error, request)
      throw new Error(`model ${entry.model.card.name}: ${(error as Error).message}`)
    }
  }

  /** A frame is lost with its worker, and the next one finds another; only a model in quarantine finds none. */
  const afterDeath = (entry: Entry, death: WorkerDied, request: WorkerRequest): Error => {
    const how = `${death.message} on ${request.type}`
    const record = death.isCrash ? quarantine.addCrash(entry.model.card, how) : undefined
    const reason = record ? describeCrash(record) : new Error(`an inference worker was ended (${how})`)
    if (record) log.error(record, reason.message)
    if (record && isQuarantined(record)) lose(entry, reason)
    else if (request.type === 'run') return new FrameDroppedError(request.n)
    return reason
  }

  const lose = (entry: Entry, reason: Error) => {
    remove(entry)
    entry.lost.resolve(reason)
  }

  const remove = (entry: Entry) => {
    if (isKnown(entry)) entries.delete(keyOf(entry))
  }

  const loadOn = (entry: Entry, worker: WorkerProcess) =>
    scheduler.errand(worker, async () => {
      const { id, model, provider } = entry
      await ask(entry, worker, { type: 'load', model: id, card: model.card, file: model.file, provider })
      entry.on.add(worker)
    })

  const load = async (entry: Entry) => {
    const first = workers()[entry.id % workers().length]
    if (!first) throw new Error('no inference worker is running: try again in a moment')
    await loadOn(entry, first)
    void loadOnOthers(entry)
  }

  /** One worker after the other, so that the rest go on with the frames of other channels. */
  const loadOnOthers = async (entry: Entry) => {
    for (const worker of [...workers()])
      if (isKnown(entry) && !entry.on.has(worker))
        await loadOn(entry, worker).catch(error => log.warn({ err: error }, missingOnSome))
  }

  const isKnown = (entry: Entry) => entries.get(keyOf(entry)) === entry

  const create = (model: StoredModel, provider: Provider): Entry => {
    const entry: Entry = {
      id: ++lastId,
      model,
      provider,
      holds: 0,
      on: new Set(),
      lost: Promise.withResolvers(),
      loading: Promise.resolve(),
    }
    entries.set(keyOf(entry), entry)
    entry.loading = load(entry)
    return entry
  }

  const release = (entry: Entry) => {
    entry.holds--
    if (entry.holds > 0) return
    remove(entry)
    // As an errand: a worker must not lose a model in the middle of a frame.
    const unload = async (worker: WorkerProcess) => worker.tell({ type: 'unload', model: entry.id })
    for (const worker of workers()) scheduler.errand(worker, unload).catch(() => {})
  }

  return {
    hold: async (model, provider) => {
      const record = quarantine.findCrashes(model.card.sha256)
      if (record && isQuarantined(record)) throw describeCrash(record)

      const entry = entries.get(keyOf({ model, provider })) ?? create(model, provider)
      entry.holds++
      try {
        await entry.loading
      } catch (error) {
        release(entry)
        throw error
      }
      return {
        isReadyOn: worker => entry.on.has(worker),
        run: (worker, frame) => ask(entry, worker, { type: 'run', model: entry.id, ...frame }),
        lost: entry.lost.promise,
        release: () => release(entry),
      }
    },
    list: () =>
      [...entries.values()]
        .filter(({ on }) => on.size > 0)
        .map(({ model, provider }) => ({ name: model.card.name, provider })),
    restoreOn: async worker => {
      for (const entry of [...entries.values()])
        await loadOn(entry, worker).catch(error => {
          log.warn({ err: error }, missingOnSome)
          if (entry.on.size === 0) lose(entry, error)
        })
    },
    forget: worker => {
      for (const entry of entries.values()) entry.on.delete(worker)
    },
  }
}

const missingOnSome = 'a model is not loaded on every inference worker'

/** A changed card makes another model: its labels or its shape may differ. */
const keyOf = ({ model, provider }: Pick<Entry, 'model' | 'provider'>) => JSON.stringify([model, provider])

function describeCrash(record: CrashRecord): Error {
  const { model, crashes, last } = record
  if (!isQuarantined(record)) return new Error(`model ${model} crashed its inference worker (${last})`)
  return new Error(
    `model ${model} is in quarantine: it crashed its worker ${crashes} times (${last}). ` +
      `Replace it by another file with "eyrie model add ${model} --file …", or remove it with "eyrie model remove ${model}"`,
  )
}
