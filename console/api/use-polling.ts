import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { type ApiError, fetchJson } from './api-request.ts'
import { loadSession } from './user-session.ts'

/** The last successful response, and the error of the latest request if it failed. */
export interface Polled<T> {
  data: T | undefined
  error: string | undefined
}

/**
 * Fetches JSON from `path` every `intervalMs` while the page is visible. Returns a new signal for
 * each path, which is empty at first.
 */
export function usePolling<T>(path: string, intervalMs: number): ReadonlySignal<Polled<T>> {
  const polled = useMemo(() => signal<Polled<T>>({ data: undefined, error: undefined }), [path])
  useEffect(() => {
    const unmounted = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    const fetchNext = async (): Promise<Polled<T>> => {
      try {
        return { data: await fetchJson<T>(path, unmounted.signal), error: undefined }
      } catch (error) {
        const { status, message } = error as ApiError
        // The session has expired, or the user has signed out in another tab.
        if (status === 401) void loadSession()
        return { data: polled.value.data, error: message }
      }
    }

    const poll = async () => {
      clearTimeout(timer)
      if (document.hidden) return
      const next = await fetchNext()
      if (unmounted.signal.aborted) return
      polled.value = next
      // The page may have been hidden and shown during the request, which starts another one.
      clearTimeout(timer)
      timer = setTimeout(poll, intervalMs)
    }

    void poll()
    document.addEventListener('visibilitychange', poll)
    return () => {
      unmounted.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', poll)
    }
  }, [path, intervalMs, polled])
  return polled
}
