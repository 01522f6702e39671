import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Refusal, request } from './api-request.ts'
import { loadSession, session } from './user-session.ts'

/** The latest answer, kept while later attempts fail, and why the last attempt failed. */
export interface Polled<T> {
  data: T | undefined
  error: string | undefined
}

/** Asks again and again, as long as the page is to be seen. */
export function usePolled<T>(path: string, intervalMs: number): ReadonlySignal<Polled<T>> {
  const polled = useSignal<Polled<T>>({ data: undefined, error: undefined })
  useEffect(() => {
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      clearTimeout(timer)
      if (document.hidden) return
      const answer = await request<T>(path, leaving.signal).then(
        data => ({ data, error: undefined }),
        (error: Refusal) => {
          // The session has ended, here or elsewhere.
          if (error.status === 401 && session.value?.user) void loadSession()
          return { ...polled.value, error: error.message }
        },
      )
      if (leaving.signal.aborted) return
      polled.value = answer
      timer = setTimeout(ask, intervalMs)
    }
    ask()
    document.addEventListener('visibilitychange', ask)
    return () => {
      leaving.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', ask)
    }
  }, [path, intervalMs, polled])
  return polled
}
