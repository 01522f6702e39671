/** Whether a source has readers, for sources that play only while somebody reads every frame. */
export interface ReaderPresence {
  set(hasReaders: boolean): void
  /** Resolves once there are readers, with a signal that fires when the last one leaves. */
  begun(): Promise<AbortSignal>
}

/** When `stopping` fires, `begun` resolves at once. */
export function createReaderPresence(stopping: AbortSignal): ReaderPresence {
  let begin = Promise.withResolvers<AbortSignal>()
  let end: AbortController | undefined
  stopping.addEventListener('abort', () => begin.resolve(stopping), { once: true })
  return {
    set(hasReaders) {
      if (hasReaders && !end) {
        end = new AbortController()
        begin.resolve(AbortSignal.any([stopping, end.signal]))
      } else if (!hasReaders && end && !stopping.aborted) {
        end.abort()
        end = undefined
        begin = Promise.withResolvers()
      }
    },
    begun: () => begin.promise,
  }
}
