/** Work that is done one after the other. */
export interface Turns {
  /** Resolves or rejects as the work does, whose turn comes after all that was given before. */
  take<T>(work: () => Promise<T>): Promise<T>
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return {
    take(work) {
      const done = last.then(work)
      last = done.catch(() => {})
      return done
    },
  }
}
