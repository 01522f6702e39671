/** Tracks whether a source has readers, for sources that only play while their frames are read. */
export interface ReaderPresence {
  set(hasReaders: boolean): void
  /** Resolves once there are readers, with a signal that fires when the last one leaves. */
  waitForReaders(): Promise<AbortSignal>
}

/** When `stopping` fires, `waitForReaders` resolves immediately. */
export function createReaderPresence(stopping: AbortSignal): ReaderPresence {
  let arrival = Promise.withResolvers<AbortSignal>()
  /** Fires when the last reader leaves. Undefined without readers. */
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
