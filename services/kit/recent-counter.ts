/** Counts events such as lost messages. The count returns to 0 once no event has occurred for `resetAfterMs`. */
export class RecentCounter {
  readonly #now: () => number
  readonly #resetAfterMs: number
  #count = 0
  #lastAt = Number.NEGATIVE_INFINITY

  /** `now` returns ms of a monotonic clock. */
  constructor(now: () => number = () => performance.now(), resetAfterMs = 10_000) {
    this.#now = now
    this.#resetAfterMs = resetAfterMs
  }

  add(): void {
    this.#count = this.recent + 1
    this.#lastAt = this.#now()
  }

  get recent(): number {
    return this.#now() - this.#lastAt < this.#resetAfterMs ? this.#count : 0
  }
}
