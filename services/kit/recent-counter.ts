/**
 * Counts events, such as lost messages. The count returns to 0 when no event has
 * occurred for `resetAfterMs`.
 */
export class RecentCounter {
  readonly #now: () => number
  readonly #resetAfterMs: number
  #count = 0
  #lastEventAt = Number.NEGATIVE_INFINITY

  /** `now` returns the time of a monotonic clock in ms. */
  constructor(now: () => number = () => performance.now(), resetAfterMs = 10_000) {
    this.#now = now
    this.#resetAfterMs = resetAfterMs
  }

  add(): void {
    this.#count = this.recent + 1
    this.#lastEventAt = this.#now()
  }

  get recent(): number {
    return this.#now() - this.#lastEventAt < this.#resetAfterMs ? this.#count : 0
  }
}
