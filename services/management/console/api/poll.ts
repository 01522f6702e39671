import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { request } from './request.ts'

/** The latest answer, kept while later attempts fail, and why the last attempt failed. */
export interface Polled<T> {
  data: T | undefined
  error: string | undefined
}

/** Asks again and again, as long as the page is to be seen. */
export function usePolled<T>(path: string, intervalMs: number): ReadonlySignal<Polled<T>> {
  const polled = useMemo(() => signal<Polled<T>>({ data: undefined, error: undefined }), [])
  useEffect(() => {
    const aborted = new AbortController()
    const ask = async () => {
      if (document.hidden) return
      try {
        polled.value = { data: await request<T>(path, aborted.signal), error: undefined }
      } catch (error) {
        if (!aborted.signal.aborted) polled.value = { ...polled.value, error: (error as Error).message }
      }
    }
    ask()
    const timer = setInterval(ask, intervalMs)
    document.addEventListener('visibilitychange', ask)
    return () => {
      aborted.abort()
      clearInterval(timer)
      document.removeEventListener('visibilitychange', ask)
    }
  }, [path, intervalMs, polled])
  return polled
}
