import type { EnginePlugins } from '@eyrie/contract/management/engine-plugins'
import type { Engine } from '@eyrie/contract/management/managed-engine'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/api-request.ts'

/** An engine, and its plugins or why they are unknown. */
export interface ListedEngine {
  engine: Engine
  plugins: EnginePlugins | undefined
  error: string
}

interface LoadedEngines {
  /** Undefined until they are loaded for the first time. */
  engines: Signal<ListedEngine[] | undefined>
  /** Why the last request failed; empty if it did not. */
  error: Signal<string>
}

const INTERVAL_MS = 10_000

/** Loads the plugins of all engines every few seconds while the page is visible. */
export function useEnginePlugins(): LoadedEngines {
  const engines = useSignal<ListedEngine[] | undefined>(undefined)
  const error = useSignal('')

  useEffect(() => {
    const refresh = async () => {
      if (document.hidden) return
      try {
        const listed = await callOperation<Engine[]>('/engine/list?site_ids=')
        engines.value = await Promise.all(listed.map(loadPlugins))
        error.value = ''
      } catch (failure) {
        error.value = (failure as Error).message
      }
    }
    void refresh()
    const timer = setInterval(refresh, INTERVAL_MS)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [])
  return { engines, error }
}

async function loadPlugins(engine: Engine): Promise<ListedEngine> {
  try {
    const path = `/engine/plugins?engine_id=${engine.engine_id}`
    return { engine, plugins: await callOperation<EnginePlugins>(path), error: '' }
  } catch (failure) {
    return { engine, plugins: undefined, error: (failure as Error).message }
  }
}
