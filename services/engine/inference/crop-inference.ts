import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { modelCard } from '@eyrie/contract/model'
import type { OwnModel } from '@eyrie/contract/plugin-inference'
import type { ViewSpec } from '@eyrie/contract/view'
import { FrameDroppedError } from '@eyrie/element'
import type { Log } from '@eyrie/kit'
import type { ModelStore, StoredModel } from '@eyrie/model-store'
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

/**
 * Inference on regions of pictures, for elements that declare `inference`. It has workers of its own, so that a slow or hostile
 * model of a plugin never delays the detectors of other channels. They start when the first model is opened.
 */

/** A model that does not answer within this time has crashed its worker. */
const TIMEOUT_MS = 10_000
/** Models of plugins are files of third parties, which may ask for any amount of memory. */
const MAX_DATA_BYTES = 4 * 2 ** 30
/** Detectors get about three times as much of a busy core. */
const NICENESS = 5

export interface CropInferenceOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  /** Folder for the files of own models. Its content is deleted at the start. */
  folder: string
  /** The folders of the catalog's models and of the frame rings. */
  folders: readonly string[]
  /** Number of worker processes. */
  workers: number
  log: Log
}

export interface CropInference {
  forChannel(client: InferenceClient): CropModels
  /** Returns the process ids of the workers, of which there are none before the first model. */
  pids(): number[]
  stop(): Promise<void>
}

interface StartedWorkers {
  pool: WorkerPool
  scheduler: Scheduler<WorkerProcess>
  registry: ModelRegistry
  provider: Provider
}

export async function createCropInference(options: CropInferenceOptions): Promise<CropInference> {
  const { models, folder, folders, workers: count, log } = options
  // The files are copies, and the models in quarantine get another chance when the engine starts.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const quarantine = openQuarantine(folder)
  let starting: Promise<StartedWorkers> | undefined
  let running: StartedWorkers | undefined

  async function start(): Promise<StartedWorkers> {
    const scheduler = new Scheduler<WorkerProcess>()
    const registry = new ModelRegistry({
      workers: () => pool.workers(),
      scheduler,
      quarantine,
      proposeRemedy: () => 'It runs again when the engine has been restarted; until then, use another model',
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
    running = { pool, scheduler, registry, provider: selectProvider('auto', pool.workers()[0]!.providers) }
    return running
  }

  /** Starts the workers at the first call, and again if that has failed. */
  function findWorkers(): Promise<StartedWorkers> {
    starting ??= start().catch(error => {
      starting = undefined
      throw error
    })
    return starting
  }

  /** Leases a model of the catalog, and follows it when its file is replaced. */
  async function followCatalogModel(
    name: string,
    { registry, provider }: StartedWorkers,
  ): Promise<ModelLease> {
    return followModel(findModel(models, name), {
      name,
      models,
      registry: {
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
    const own = 'own' in source ? await copyOwnModel(source.own, source.folder, folder) : undefined
    const started = await findWorkers()
    const lease =
      'own' in source
        ? await started.registry.acquire(own!, started.provider)
        : await followCatalogModel(source.name, started)

    // Regions of one frame do not replace each other. The element limits how many wait.
    const { pool, scheduler } = started
    const queue = openModelQueue({
      lease,
      pool,
      scheduler,
      findRing: () => findRing(view),
      mode: 'a',
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
      const started = await starting?.catch(() => undefined)
      await started?.pool.stop()
    },
  }
}

const toCropModel = ({ card, file }: StoredModel): LoadableModel => {
  const { name, sha256, input } = card
  return { card: { kind: 'crops', name, sha256, input: toCropInput(input), detector: card }, file }
}

/**
 * Copies a model of a plugin to `folder`, which workers can read, unlike the folders of plugins. Throws an `Error` if it is not the
 * file of the manifest.
 */
async function copyOwnModel(own: OwnModel, pluginFolder: string, folder: string): Promise<LoadableModel> {
  const { name, sha256, input } = own
  const bytes = await readFile(join(pluginFolder, own.file))
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error(`model ${name}: ${own.file} is not the file whose sha256 is in plugin.json`)

  // Renamed, so that no worker reads half a file.
  const file = join(folder, `${sha256}.onnx`)
  const draft = join(folder, randomUUID())
  await writeFile(draft, bytes, { mode: 0o600 })
  await rename(draft, file)
  return { card: { kind: 'crops', name, sha256, input, detector: toDetectorCard(own) }, file }
}

function toDetectorCard({ name, head, labels, input, ...rest }: OwnModel) {
  if (head === undefined) return undefined
  const { fit, ...cardInput } = input
  const { license, sha256, score_threshold, iou_threshold } = rest
  return modelCard.parse({
    ...{ name, task: 'detect', head, labels, license, sha256, score_threshold, iou_threshold },
    input: { ...cardInput, dynamic: false },
  })
}
