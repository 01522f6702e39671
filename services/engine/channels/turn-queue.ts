/** A place in a queue, such as the queue of the frames that wait for an element. */
export interface Turn {
  /** Resolves when all earlier turns are finished. */
  readonly ready: Promise<void>
  /** Ends this turn, even before it has begun. Further calls have no effect. */
  finish(): void
}

/** Admits frames one at a time, in the order in which they were enqueued. */
export class TurnQueue {
  #last: Promise<void> = Promise.resolve()

  enqueue(): Turn {
    const ready = this.#last
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
    this.#last = ready.then(() => finished)
    return { ready, finish }
  }
}
