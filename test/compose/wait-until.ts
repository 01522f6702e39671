import { setTimeout as wait } from 'node:timers/promises'

const INTERVAL_MS = 250
/** Machines that build software for others at the same time are slow. */
const LIMIT_MS = 600_000

/**
 * Repeats an action until it succeeds, and returns its result. Throws the last error after ten
 * minutes.
 */
export async function waitUntil<T>(what: string, action: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + LIMIT_MS
  for (;;) {
    try {
      return await action()
    } catch (cause) {
      if (performance.now() > deadline) throw new Error(`no ${what} within ten minutes`, { cause })
      await wait(INTERVAL_MS)
    }
  }
}
