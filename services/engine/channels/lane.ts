/** A place in a lane's queue. */
export interface Turn {
  /** Resolves when everybody before has left. */
  readonly come: Promise<void>
  /** Lets the next one come, whether this one's turn had come or not. Leaving twice is leaving once. */
  leave(): void
}

/** Lets frames through one at a time, in the order in which they took their places. */
export class Lane {
  #last: Promise<void> = Promise.resolve()

  take(): Turn {
    const come = this.#last
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    this.#last = come.then(() => left)
    return { come, leave }
  }
}
