import type { EnginePlugins } from '@eyrie/contract/management/engine-plugins'
import type { Engine } from '@eyrie/contract/management/managed-engine'
import { callOperation } from '../api/call-operation.ts'
import { type Loaded, useLoaded } from '../api/use-loaded.ts'

/** An engine, and its plugins or why they are unknown. */
export interface ListedEngine {
  engine: Engine
  plugins: EnginePlugins | undefined
  error: string
}

const INTERVAL_MS = 10_000

/** Loads the plugins of all engines every few seconds while the page is visible. */
export const useEnginePlugins = (): Loaded<ListedEngine[]> => useLoaded(loadEngines, INTERVAL_MS)

async function loadEngines(): Promise<ListedEngine[]> {
  const engines = await callOperation<Engine[]>('/engine/list?site_ids=')
  return Promise.all(engines.map(loadPlugins))
}

async function loadPlugins(engine: Engine): Promise<ListedEngine> {
  try {
    const path = `/engine/plugins?engine_id=${engine.engine_id}`
    return { engine, plugins: await callOperation<EnginePlugins>(path), error: '' }
  } catch (failure) {
    return { engine, plugins: undefined, error: (failure as Error).message }
  }
}
