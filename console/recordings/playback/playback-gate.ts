/** Makes loading wait for playback to advance. */
export interface Gate {
  /**
   * Resolves when the condition is true. It is checked now and at each `checkAgain`. Throws once
   * the signal is aborted.
   */
  waitUntil(condition: () => boolean): Promise<void>
  checkAgain(): void
}

export function createGate(signal: AbortSignal): Gate {
  const waiters = new Set<() => void>()
  return {
    async waitUntil(condition) {
      while (!condition()) {
        await new Promise<void>(resolve => waiters.add(resolve))
        signal.throwIfAborted()
      }
    },
    checkAgain() {
      const waiting = [...waiters]
      waiters.clear()
      for (const wake of waiting) wake()
    },
  }
}
