/** Whether anybody reads, for sources that are played only to those who see every frame. */
export interface ReaderPresence {
  set(somebody: boolean): void
  /** Resolves once somebody reads, with a signal that fires when nobody does any more. */
  begun(): Promise<AbortSignal>
}

/** When `stopping` fires, nobody is waited for any more. */
export function createReaderPresence(stopping: AbortSignal): ReaderPresence {
  let begin = Promise.withResolvers<AbortSignal>()
  let end: AbortController | undefined
  stopping.addEventListener('abort', () => begin.resolve(stopping), { once: true })
  return {
    set(somebody) {
      if (somebody && !end) {
        end = new AbortController()
        begin.resolve(AbortSignal.any([stopping, end.signal]))
      } else if (!somebody && end && !stopping.aborted) {
        end.abort()
        end = undefined
        begin = Promise.withResolvers()
      }
    },
    begun: () => begin.promise,
  }
}
