import { availableParallelism } from 'node:os'
import { openModelStore } from '@eyrie/model-store'
import { openQuarantine } from '@eyrie/model-store/quarantine'
import { type Catalog, createCatalog } from '../catalog/catalog.ts'
import { createInference } from '../inference/inference.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { Runtime, type RuntimeOptions } from './runtime.ts'

export interface StartRuntimeOptions extends Omit<RuntimeOptions, 'inference'> {
  /** Folders of models; new models are added to the first. */
  modelFolders: readonly [string, ...string[]]
  /** Number of frames that are inferred in parallel; one per core by default. */
  inferenceWorkers?: number
}

/** A running runtime and the catalog of its elements and models. */
export interface StartedRuntime {
  runtime: Runtime
  catalog: Catalog
  /** Creates a catalog with other elements and the same models. */
  createCatalogFor(elements: ReadonlyMap<string, KnownElement>): Catalog
  stop(): Promise<void>
}

/** Opens the model folders, starts the inference workers and starts to connect to media. */
export async function startRuntime(options: StartRuntimeOptions): Promise<StartedRuntime> {
  const { modelFolders, elements, inferenceWorkers: workers = availableParallelism(), costs, log } = options
  const models = await openModelStore({ roots: modelFolders, log })
  const quarantine = openQuarantine(modelFolders[0])
  const inference = await createInference({ models, quarantine, workers, costs, log })
  const runtime = new Runtime({ ...options, inference })
  const catalogOf: StartedRuntime['createCatalogFor'] = elements =>
    createCatalog({ elements, models, inference })
  return {
    runtime,
    catalog: catalogOf(elements),
    createCatalogFor: catalogOf,
    stop: async () => {
      await runtime.stop()
      await inference.stop()
      models.close()
    },
  }
}
