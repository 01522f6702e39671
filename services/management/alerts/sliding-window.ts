/**
 * The value of a statistic at one moment, such as the number of people that a message has counted.
 */
export interface TimedAmount {
  /** Epoch ms. */
  timeMs: number
  sum: number
  count: number
}

export type WindowAmount = Omit<TimedAmount, 'timeMs'>

/** The sum and number of the amounts within a time window of fixed length, which moves forward. */
export class SlidingWindow {
  readonly #lengthMs: number
  /** Ordered by time. The amounts before `#nextLeaving` have already left the window. */
  readonly #amounts: TimedAmount[]
  #nextLeaving = 0
  #sum: number
  #count: number

  /**
   * @param initial sum and count of all amounts in the initial window.
   * @param leaving the amounts of the initial window that will leave it when the window
   *   moves, ordered by time.
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
    const insertAt = this.#amounts.findLastIndex(({ timeMs }) => timeMs <= amount.timeMs) + 1
    this.#amounts.splice(Math.max(insertAt, this.#nextLeaving), 0, amount)
  }

  /**
   * Moves the end of the window to `endMs` (epoch ms, inclusive) and returns the sum and
   * count within the window.
   */
  advanceTo(endMs: number): WindowAmount {
    const startMs = endMs - this.#lengthMs
    while (true) {
      const oldest = this.#amounts[this.#nextLeaving]
      if (!oldest || oldest.timeMs > startMs) break
      this.#sum -= oldest.sum
      this.#count -= oldest.count
      this.#nextLeaving += 1
    }
    // An empty window discards the rounding errors of the floating-point sum.
    if (this.#count === 0) this.#sum = 0
    return { sum: this.#sum, count: this.#count }
  }
}
