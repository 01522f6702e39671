/** Waiting that somebody can put an end to. */
export interface Pause {
  /** Resolves after `ms`, or before at `end` or the signal. */
  wait(ms: number): Promise<void>
  end(): void
}

export function createPause(signal: AbortSignal): Pause {
  let leave = () => {}
  signal.addEventListener('abort', () => leave())
  return {
    end: () => leave(),
    wait: ms =>
      new Promise(resolve => {
        if (signal.aborted) return resolve()
        const timer = Number.isFinite(ms) ? setTimeout(() => leave(), ms) : undefined
        leave = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
  }
}
