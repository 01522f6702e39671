/** Limits a rate: permits a burst at first, and `perSecond` in the long run. */
export class TokenBucket {
  readonly #capacity: number
  readonly #perSecond: number
  #tokens: number
  #filledAt: number

  /** `now` is in ms. */
  constructor(capacity: number, perSecond: number, now: number) {
    this.#capacity = capacity
    this.#perSecond = perSecond
    this.#tokens = capacity
    this.#filledAt = now
  }

  /** Permits `count` more, up to the burst. */
  add(count: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + count)
  }

  /** Takes tokens if there are enough of them. Returns whether there were. */
  take(count: number, now: number): boolean {
    const added = ((now - this.#filledAt) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#capacity, this.#tokens + added)
    this.#filledAt = now
    if (this.#tokens < count) return false
    this.#tokens -= count
    return true
  }
}
