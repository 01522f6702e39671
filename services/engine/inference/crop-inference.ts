import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelCard, modelCard } from '@eyrie/contract/model'
import type { OwnModel } from '@eyrie/contract/plugin-inference'
import type { ViewSpec } from '@eyrie/contract/view'
import { FrameDroppedError } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import type { ModelStore, Quarantine, StoredModel } from '@eyrie/model-store'
import { openQuarantine } from '@eyrie/model-store/quarantine'
import type { Provider } from '@eyrie/model-store/session'
import type { CropModel, CropModelSource, CropModels } from '../plugin-host/models/crop-models.ts'
import { toCropInput } from './crops/crop-input.ts'
import { selectProvider } from './devices.ts'
import { findModel } from './find-model.ts'
import { followModel } from './followed-model.ts'
import type { InferenceClient } from './inference-client.ts'
import { openModelQueue } from './model-queue.ts'
import { type LoadableModel, type ModelLease, ModelRegistry } from './model-registry.ts'
import { Scheduler } from './scheduler.ts'
import { startWorkerPool, type WorkerPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A worker that does not answer within this time is killed, and its model counts as crashed. */
const TIMEOUT_MS = 10_000
/**
 * Maximum memory of a worker. Models of plugins are files of third parties, which
 * may ask for any amount.
 */
const MAX_DATA_BYTES = 4 * 2 ** 30
/** Nice value of the workers. On a busy core, detectors get about three times as much time. */
const NICENESS = 5

export interface CropInferenceOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  /**
   * Folder for copies of the models that plugins contain. The earlier content of the folder is
   * deleted.
   */
  folder: string
  /** The folders of the catalog's models and of the frame rings. */
  folders: readonly string[]
  /** Number of worker processes. */
  workers: number
  log: Log
}

/**
 * Inference on regions (crops) of pictures, for elements whose manifests declare models. It has
 * workers of its own, so that a slow or hostile model of a plugin never delays the detectors of
 * other channels. The workers start when the first model is opened.
 */
export interface CropInference {
  /** Returns the models for the elements of a channel. */
  forChannel(client: InferenceClient): CropModels
  /** Returns the process ids of the workers; none before the first model is opened. */
  pids(): number[]
  stop(): Promise<void>
}

export async function createCropInference(options: CropInferenceOptions): Promise<CropInference> {
  const { models, folder, log } = options
  // The folder also contains the list of models in quarantine: they get another chance
  // when the engine starts.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const quarantine = openQuarantine(folder)
  let starting: Promise<CropWorkers> | undefined
  let running: CropWorkers | undefined

  /** Starts the workers at the first call, and again if that has failed. */
  function ensureStarted(): Promise<CropWorkers> {
    starting ??= start().catch(error => {
      starting = undefined
      throw error
    })
    return starting
  }

  async function start(): Promise<CropWorkers> {
    running = await startCropWorkers(options, quarantine)
    return running
  }

  /**
   * Leases a model of a plugin or of the catalog. If a model of the catalog is replaced, the lease
   * switches to the new one.
   */
  async function leaseModel(source: CropModelSource): Promise<ModelLease> {
    if ('own' in source) {
      const ownModel = await copyOwnModel(source.own, source.folder, folder)
      const { registry, provider } = await ensureStarted()
      return registry.acquire(ownModel, provider)
    }

    const { registry, provider } = await ensureStarted()
    return followModel(findModel(models, source.name), {
      name: source.name,
      models,
      registry: {
        // `followModel` leases only models of the store.
        acquire: (model, provider) => registry.acquire(toCropModel(model as StoredModel), provider),
      },
      provider,
      log,
    })
  }

  async function open(
    source: CropModelSource,
    view: ViewSpec,
    { priority, findRing }: InferenceClient,
  ): Promise<CropModel> {
    const lease = await leaseModel(source)
    const { pool, scheduler } = await ensureStarted()
    const queue = openModelQueue({
      lease,
      pool,
      scheduler,
      findRing: () => findRing(view),
      mode: 'a',
      // With `realtime`, a region would replace another one of the same frame. The element
      // limits how many wait.
      pacing: 'all',
      priority,
    })

    return {
      run: ({ n, region, thresholds, signal }) =>
        queue.submit(n, async worker => {
          signal.throwIfAborted()
          const ring = queue.openRing(n)
          const answer = await lease.runOnCrop(worker, { ring, n, region, thresholds })
          if (answer.type !== 'cropped') throw new FrameDroppedError(n)
          return answer.result
        }),
      close: () => queue.close('the element is closed'),
    }
  }

  return {
    forChannel: client => ({ open: (source, view) => open(source, view, client) }),
    pids: () => running?.pool.workers().map(({ pid }) => pid) ?? [],
    stop: async () => {
      // Workers that have failed to start need not be stopped.
      const started = await starting?.catch(() => undefined)
      await started?.pool.stop()
    },
  }
}

/** The workers for regions, and what assigns models and frames to them. */
interface CropWorkers {
  pool: WorkerPool
  scheduler: Scheduler<WorkerProcess>
  registry: ModelRegistry
  /** The part of ONNX Runtime that runs the models on this machine. */
  provider: Provider
}

async function startCropWorkers(
  { workers: count, folder, folders, log }: CropInferenceOptions,
  quarantine: Quarantine,
): Promise<CropWorkers> {
  const scheduler = new Scheduler<WorkerProcess>()
  const registry = new ModelRegistry({
    workers: () => pool.workers(),
    scheduler,
    quarantine,
    proposeRemedy: () =>
      'It runs again when the engine has been restarted; until then, use another model',
    log,
  })
  const pool = await startWorkerPool({
    count,
    timeoutMs: TIMEOUT_MS,
    folders: [...folders, folder],
    dataBytes: MAX_DATA_BYTES,
    niceness: NICENESS,
    scheduler,
    log,
    onExit: worker => registry.removeWorker(worker),
    onReplacement: worker => registry.loadAllOn(worker),
  })
  await pool.startAll().catch(async error => {
    await pool.stop()
    throw error
  })
  return {
    pool,
    scheduler,
    registry,
    provider: selectProvider('auto', pool.workers()[0]!.providers),
  }
}

/** Returns a model of the catalog as a model that runs on regions. */
function toCropModel({ card, file }: StoredModel): LoadableModel {
  const { name, sha256, input } = card
  return { card: { kind: 'crops', name, sha256, input: toCropInput(input), detector: card }, file }
}

/**
 * Copies a model of a plugin to `folder`, which workers can read, unlike the folders of plugins.
 * Throws an `Error` if the file is not the one of the manifest.
 */
async function copyOwnModel(
  own: OwnModel,
  pluginFolder: string,
  folder: string,
): Promise<LoadableModel> {
  const { name, sha256, input } = own
  const bytes = await readFile(join(pluginFolder, own.file))
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
    throw new Error(`model ${name}: ${own.file} is not the file whose sha256 is in plugin.json`)
  }

  // Renamed, so that no worker reads half a file.
  const file = join(folder, `${sha256}.onnx`)
  const draft = join(folder, randomUUID())
  await writeFile(draft, bytes, { mode: 0o600 })
  await rename(draft, file)
  return { card: { kind: 'crops', name, sha256, input, detector: toDetectorCard(own) }, file }
}

/**
 * Returns the model card with which the output of a detector is decoded. Returns
 * undefined for other models.
 */
function toDetectorCard(model: OwnModel): ModelCard | undefined {
  if (model.head === undefined) return undefined
  const { file: _file, input, ...card } = model
  const { fit: _fit, ...cardInput } = input
  return modelCard.parse({ ...card, task: 'detect', input: { ...cardInput, dynamic: false } })
}
