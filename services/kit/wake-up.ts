/**
 * Ends the pause between two turns of a loop early. At the beginning of a turn, the loop calls
 * `listen`; after its work, it sleeps until the returned signal is aborted. A notification during
 * the work is therefore not lost: the following pause ends at once.
 */
export interface WakeUp {
  /** Returns a signal that the next `notify` aborts. It is also aborted when the loop must stop. */
  listen(): AbortSignal
  notify(): void
}

/** `stopping` is aborted when the loop must stop. */
export function createWakeUp(stopping: AbortSignal): WakeUp {
  let next = new AbortController()
  return {
    listen: () => AbortSignal.any([stopping, next.signal]),
    notify() {
      next.abort()
      next = new AbortController()
    },
  }
}
