import { setTimeout as wait } from 'node:timers/promises'
import { type Backoff, backoffDelayMs } from '@eyrie/contract/backoff'

// Repeated and waiting work that ends when a signal is aborted, for example because the service
// stops.

/** Resolves after `ms`, or as soon as the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {})
}

/** Resolves when `event` does, after `ms`, or as soon as the signal is aborted. */
export async function sleepUntil(
  event: Promise<unknown>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const timer = new AbortController()
  await Promise.race([event, sleep(ms, AbortSignal.any([signal, timer.signal]))])
  timer.abort()
}

/**
 * Resolves or rejects as `work` does. Rejects with the signal's reason if the signal is aborted
 * before.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)

  try {
    return await Promise.race([aborted.promise, work])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export interface RepeatOptions {
  signal: AbortSignal
  /** Delays between consecutive failures. */
  backoff: Backoff
  /** Called for the first of several consecutive failures. */
  onFailure?(error: unknown): void
}

/**
 * Runs `step` again and again until the signal is aborted. After a step that rejects, the
 * next one is delayed.
 */
export async function repeat(step: () => Promise<void>, options: RepeatOptions): Promise<void> {
  const { signal, backoff, onFailure } = options
  let failures = 0
  while (!signal.aborted) {
    try {
      await step()
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (failures === 0) onFailure?.(error)
      await sleep(backoffDelayMs(failures, backoff), signal)
      failures++
    }
  }
}
