import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { session } from './user-session.ts'

export interface Loaded<T> {
  /** Undefined until it is loaded for the first time. */
  value: Signal<T | undefined>
  /** Why the last attempt failed; empty if it did not. */
  error: Signal<string>
  /** Loads again, after a change. */
  refresh(): Promise<void>
}

/**
 * Loads a value every `intervalMs` while the page is visible and a user is signed in. `load` must
 * be the same function at each call.
 */
export function useLoaded<T>(load: () => Promise<T>, intervalMs: number): Loaded<T> {
  const value = useSignal<T | undefined>(undefined)
  const error = useSignal('')
  const isSignedIn = Boolean(session.value?.user)

  const refresh = async () => {
    try {
      value.value = await load()
      error.value = ''
    } catch (failure) {
      error.value = (failure as Error).message
    }
  }

  useEffect(() => {
    if (!isSignedIn) return
    const refreshIfVisible = () => {
      if (!document.hidden) void refresh()
    }
    refreshIfVisible()
    const timer = setInterval(refreshIfVisible, intervalMs)
    document.addEventListener('visibilitychange', refreshIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refreshIfVisible)
    }
  }, [load, intervalMs, isSignedIn])
  return { value, error, refresh }
}
