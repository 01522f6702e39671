/** The sum and number of the values that a statistic has at one moment. */
export interface TimedAmount {
  /** The moment, in epoch ms. */
  timeMs: number
  sum: number
  count: number
}

/** The sum and number of all values in a window. */
export type WindowAmount = Omit<TimedAmount, 'timeMs'>

/**
 * Maintains the sum and number of the values within a time window of fixed length, which moves
 * forward. Each value is added once, and subtracted once when it leaves the window.
 */
export class SlidingWindow {
  readonly #lengthMs: number
  /**
   * The amounts that will leave the window or have left it, ordered by time. None is removed: a
   * window lasts only for the evaluation of a batch of messages.
   */
  readonly #amounts: TimedAmount[]
  /** Index in `#amounts` of the oldest amount within the window. */
  #oldestIndex = 0
  /** Sum and count of all values within the window. */
  #sum: number
  #count: number

  /**
   * @param initial sum and count of all values in the initial window.
   * @param leaving those values of the initial window that will leave it when the window moves,
   *   ordered by time.
   */
  constructor(lengthMs: number, initial: WindowAmount, leaving: readonly TimedAmount[]) {
    this.#lengthMs = lengthMs
    this.#amounts = [...leaving]
    this.#sum = initial.sum
    this.#count = initial.count
  }

  /** Adds an amount. Amounts may arrive slightly out of order. */
  add(amount: TimedAmount): void {
    this.#sum += amount.sum
    this.#count += amount.count
    const lastEarlierIndex = this.#amounts.findLastIndex(({ timeMs }) => timeMs <= amount.timeMs)
    // Not among the amounts that have left the window: it would never be subtracted.
    const index = Math.max(lastEarlierIndex + 1, this.#oldestIndex)
    this.#amounts.splice(index, 0, amount)
  }

  /**
   * Moves the end of the window to `endMs` (epoch ms, inclusive) and returns the sum and
   * count within the window.
   */
  advanceTo(endMs: number): WindowAmount {
    const startMs = endMs - this.#lengthMs
    for (;;) {
      const oldest = this.#amounts[this.#oldestIndex]
      if (!oldest || oldest.timeMs > startMs) break
      this.#sum -= oldest.sum
      this.#count -= oldest.count
      this.#oldestIndex += 1
    }
    // Discards the rounding errors of the floating-point sum, which would add up.
    if (this.#count === 0) this.#sum = 0
    return { sum: this.#sum, count: this.#count }
  }
}
