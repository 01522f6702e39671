import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Isolation } from '@eyrie/contract'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import { holdFolder } from '@eyrie/kit/held-folder'
import { type ModelStore, openModelStore, type Quarantine } from '@eyrie/model-store'
import { createMemoryQuarantine, openQuarantine } from '@eyrie/model-store/quarantine'
import { type Catalog, createCatalog } from '../catalog/catalog.ts'
import type { ElementDemand } from '../catalog/element-demand.ts'
import { type CropInference, createCropInference } from '../inference/crop-inference.ts'
import { createInference, type InferencePool } from '../inference/inference.ts'
import { type ActiveModels, createActiveModels } from '../models/active-models.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import { Runtime, type RuntimeOptions } from './runtime.ts'

/** The settings of the runtime, and the folders and workers of its models. */
export interface StartRuntimeOptions extends Omit<RuntimeOptions, 'inference' | 'cropInference'> {
  /** Folders of models. New models are added to the first folder. */
  modelFolders: readonly [string, ...string[]]
  /**
   * Returns the name of the model that runs for pipelines that name the model `name`; the
   * same one by default.
   */
  findSelectedModel?(name: string): string
  /** Folder for copies of the models that plugins contain. */
  pluginModelFolder: string
  /** Number of inference workers; one per core by default. */
  inferenceWorkers?: number
}

/** The runtime, and the catalog of the elements and models that pipelines can use. */
export interface StartedRuntime {
  runtime: Runtime
  /** Returns the boundaries around the processes that run models. */
  isolation: () => Isolation
  catalog: Catalog
  /** Creates a catalog with other elements and the same models. */
  createCatalogFor(elements: KnownElements): Catalog
  models: RuntimeModels
  stop(): Promise<void>
}

/**
 * The models of the runtime. Another model can be selected to run in place of the one
 * that pipelines name.
 */
export interface RuntimeModels {
  /** All models, by their own names. */
  store: ModelStore
  /** The models that run, by the names in pipelines. */
  active: ActiveModels
  quarantine: Quarantine
  inference: InferencePool
  /**
   * Starts an inference worker for a model in shadow, whose results are only compared with
   * those of the active model. The worker has the lowest priority, and its crashes put no
   * model in quarantine.
   */
  startShadowPool(): Promise<InferencePool>
  /** Estimates what elements would compute if `findSelected` selected their models. */
  estimateDemand(
    elements: readonly PipelineElement[],
    findSelected: (name: string) => string,
  ): ElementDemand[]
}

/** The highest nice value, so that everything else has priority over models in shadow. */
const SHADOW_NICENESS = 19

/**
 * Opens the model folders, starts the inference workers and begins to connect to the media service.
 */
export async function startRuntime(options: StartRuntimeOptions): Promise<StartedRuntime> {
  const { modelFolders, elements, costs, log, findSelectedModel = name => name } = options
  const store = await openModelStore({ roots: modelFolders, log })
  const models = createActiveModels(store, findSelectedModel)
  const quarantine = openQuarantine(modelFolders[0])
  const releaseRingFolder = await holdFolder(options.ring, 'engine')
  const release = async () => {
    store.close()
    await releaseRingFolder()
  }

  // Workers can read only folders that exist when they start.
  await mkdir(modelFolders[0], { recursive: true })
  const folders = [...modelFolders, options.ring]
  const context = { models, quarantine, folders }
  const { inference, cropInference } = await startInference(options, context).catch(async error => {
    await release()
    throw error
  })
  const runtime = new Runtime({ ...options, inference, cropInference })

  const startShadowPool = () =>
    createInference({
      models: store,
      quarantine: createMemoryQuarantine(),
      proposeRemedy: () => 'It does not run in shadow any more',
      folders,
      workers: 1,
      niceness: SHADOW_NICENESS,
      costs,
      log: log.child({ shadow: true }),
    })

  const estimateDemand: RuntimeModels['estimateDemand'] = (pipelineElements, findSelected) => {
    const otherModels = createActiveModels(store, findSelected)
    return createCatalog({ elements, models: otherModels, inference }).estimateDemand(
      pipelineElements,
    )
  }

  const createCatalogFor = (otherElements: KnownElements) =>
    createCatalog({ elements: otherElements, models, inference })

  return {
    runtime,
    isolation: inference.isolation,
    catalog: createCatalogFor(elements),
    createCatalogFor,
    models: { store, active: models, quarantine, inference, startShadowPool, estimateDemand },
    stop: async () => {
      await runtime.stop()
      await inference.stop()
      await cropInference.stop()
      await release()
    },
  }
}

interface InferenceContext {
  models: ActiveModels
  quarantine: Quarantine
  /** The folders that inference workers may read. */
  folders: readonly string[]
}

/** Starts the inference on frames, and the inference on regions for the models of plugins. */
async function startInference(
  { inferenceWorkers, pluginModelFolder, costs, log }: StartRuntimeOptions,
  { models, quarantine, folders }: InferenceContext,
): Promise<{ inference: InferencePool; cropInference: CropInference }> {
  const workers = inferenceWorkers ?? availableParallelism()
  const inference = await createInference({ models, quarantine, folders, workers, costs, log })
  const { level, missing } = inference.isolation()
  if (level !== 'full') log.warn({ level, missing }, 'inference workers are not fully isolated')

  const cropInference = await createCropInference({
    models,
    folder: pluginModelFolder,
    folders,
    workers: Math.ceil(workers / 2),
    log,
  }).catch(async error => {
    await inference.stop()
    throw error
  })
  return { inference, cropInference }
}
