/**
 * Tracks whether a source has readers. Some files are played only while they have readers, so
 * that no frame is missed.
 */
export interface ReaderPresence {
  set(hasReaders: boolean): void
  /**
   * Waits until the source has readers. Resolves to a signal that fires when the
   * last reader has left.
   */
  waitForReaders(): Promise<AbortSignal>
}

/** When `stopping` fires, `waitForReaders` resolves immediately. */
export function createReaderPresence(stopping: AbortSignal): ReaderPresence {
  let arrival = Promise.withResolvers<AbortSignal>()
  /** Aborted when the last reader leaves; undefined without readers. */
  let departure: AbortController | undefined
  stopping.addEventListener('abort', () => arrival.resolve(stopping), { once: true })
  return {
    set(hasReaders) {
      if (hasReaders && !departure) {
        departure = new AbortController()
        arrival.resolve(AbortSignal.any([stopping, departure.signal]))
      } else if (!hasReaders && departure && !stopping.aborted) {
        departure.abort()
        departure = undefined
        arrival = Promise.withResolvers()
      }
    },
    waitForReaders: () => arrival.promise,
  }
}
