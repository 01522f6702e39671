import type { ModelStore, StoredModel } from '@eyrie/model-store'

/**
 * The models of the store, by the names in pipelines. If another model was selected in place of
 * one, `get` returns that, unless it is no longer in the store. Detectors follow changes between
 * two frames, like those of the store.
 */
export interface ActiveModels extends Pick<ModelStore, 'list' | 'get' | 'onChange'> {
  /**
   * Must be called after another model was selected. Resolves when all detectors continue with
   * it, or have failed to.
   */
  notifyChange(): Promise<void>
}

export function createActiveModels(
  store: Pick<ModelStore, 'list' | 'get' | 'onChange'>,
  findSelected: (name: string) => string,
): ActiveModels {
  const listeners = new Set<() => unknown>()

  function get(name: string): StoredModel | undefined {
    const own = store.get(name)
    return own && (store.get(findSelected(name)) ?? own)
  }

  return {
    list: () => store.list(),
    get,
    onChange: listener => {
      listeners.add(listener)
      const unsubscribe = store.onChange(listener)
      return () => {
        listeners.delete(listener)
        return unsubscribe()
      }
    },
    notifyChange: async () => {
      await Promise.all([...listeners].map(listener => listener()))
    },
  }
}
