const REMEMBERED_MS = 10_000

/** How much was lost lately, so that what is over is not complained of for ever. */
export class Losses {
  readonly #now: () => number
  #count = 0
  #last = Number.NEGATIVE_INFINITY

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(): void {
    this.#count = this.recent + 1
    this.#last = this.#now()
  }

  /** 0 when there has been none for ten seconds. */
  get recent(): number {
    return this.#now() - this.#last < REMEMBERED_MS ? this.#count : 0
  }
}
