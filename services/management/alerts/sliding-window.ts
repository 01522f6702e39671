export interface TimedAmount {
  /** Epoch ms. */
  timeMs: number
  sum: number
  count: number
}

/** Sum and count of the amounts within a window of fixed length that moves forward in time. */
export class SlidingWindow {
  readonly #lengthMs: number
  /** Amounts that have not left the window yet start at `#next`; ordered by time. */
  readonly #amounts: TimedAmount[]
  #next = 0
  #sum: number
  #count: number

  /**
   * @param initial totals of the initial window.
   * @param leaving the amounts of the initial window that can leave it, ordered by time.
   */
  constructor(lengthMs: number, initial: Omit<TimedAmount, 'timeMs'>, leaving: readonly TimedAmount[]) {
    this.#lengthMs = lengthMs
    this.#amounts = [...leaving]
    this.#sum = initial.sum
    this.#count = initial.count
  }

  /** Adds an amount. Amounts arrive in order of time, except for the jitter of the engine. */
  add(amount: TimedAmount): void {
    this.#sum += amount.sum
    this.#count += amount.count
    const index = this.#amounts.findLastIndex(({ timeMs }) => timeMs <= amount.timeMs) + 1
    this.#amounts.splice(Math.max(index, this.#next), 0, amount)
  }

  /** Moves the end of the window to `endMs` (epoch ms, included) and returns its totals. */
  totalAt(endMs: number): { sum: number; count: number } {
    const startMs = endMs - this.#lengthMs
    for (;;) {
      const oldest = this.#amounts[this.#next]
      if (!oldest || oldest.timeMs > startMs) break
      this.#sum -= oldest.sum
      this.#count -= oldest.count
      this.#next += 1
    }
    // Resets the rounding error of floating-point sums.
    if (this.#count === 0) this.#sum = 0
    return { sum: this.#sum, count: this.#count }
  }
}
