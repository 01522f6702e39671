import { availableParallelism } from 'node:os'
import type { Backoff, Log, Tracer } from '@eyrie/kit'
import { openModelStore } from '@eyrie/model-store'
import { openQuarantine } from '@eyrie/model-store/quarantine'
import { createCatalog } from './catalog/catalog.ts'
import { Conductor } from './channel/conductor.ts'
import { createInference } from './inference/inference.ts'
import type { KnownElement } from './plugin-host/plugin.ts'
import type { Catalog, CostListener, Publisher, Runtime } from './ports.ts'

export interface RuntimeOptions {
  /** Where media listens, such as http://127.0.0.1:8200. */
  mediaUrl: string
  internalToken: string | undefined
  /** Folder that engine and media share. */
  ring: string
  /** What pipelines can be made of now. Who changes it hands the runtime its plan again. */
  elements: ReadonlyMap<string, KnownElement>
  /** Folders of models; the first is the one that models are added to. */
  modelFolders: readonly [string, ...string[]]
  /** How many frames are inferred at the same time; one a core by default. */
  inferenceWorkers?: number
  publisher: Publisher
  costs?: CostListener
  tracer?: Tracer
  log: Log
  /** Waits before what failed is tried again. */
  backoff?: Backoff
  random?: () => number
}

export interface RunningRuntime {
  runtime: Runtime
  catalog: Catalog
  /** The catalog as it would be with other elements. */
  catalogOf(elements: ReadonlyMap<string, KnownElement>): Catalog
  stop(): Promise<void>
}

/** Finds models, starts the inference workers and begins to look for media. */
export async function createRuntime(options: RuntimeOptions): Promise<RunningRuntime> {
  const { modelFolders, elements, inferenceWorkers: workers = availableParallelism(), costs, log } = options
  const models = await openModelStore({ roots: modelFolders, log })
  const quarantine = openQuarantine(modelFolders[0])
  const inference = await createInference({ models, quarantine, workers, costs, log })
  const conductor = new Conductor({ ...options, inference })
  const catalogOf: RunningRuntime['catalogOf'] = elements => createCatalog({ elements, models, inference })
  return {
    runtime: conductor,
    catalog: catalogOf(elements),
    catalogOf,
    stop: async () => {
      await conductor.stop()
      await inference.stop()
      models.close()
    },
  }
}
