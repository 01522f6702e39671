export interface Amount {
  /** Epoch ms. */
  at: number
  sum: number
  count: number
}

/** What has been added within the last `lengthMs`, as time goes on. */
export class Window {
  readonly #lengthMs: number
  readonly #leaving: Amount[]
  #left = 0
  #sum: number
  #count: number

  /** `before`: what lies in the window at first; `leaving`: those of it that may leave, in the order of time. */
  constructor(lengthMs: number, before: Omit<Amount, 'at'>, leaving: readonly Amount[]) {
    this.#lengthMs = lengthMs
    this.#leaving = [...leaving]
    this.#sum = before.sum
    this.#count = before.count
  }

  /** Takes an amount, none of which is earlier than those before but for the engine's jitter. */
  add(amount: Amount): void {
    this.#sum += amount.sum
    this.#count += amount.count
    const place = this.#leaving.findLastIndex(({ at }) => at <= amount.at) + 1
    this.#leaving.splice(Math.max(place, this.#left), 0, amount)
  }

  /** What lies in it when it ends at a moment, epoch ms. */
  upTo(moment: number): { sum: number; count: number } {
    const begin = moment - this.#lengthMs
    for (let next = this.#leaving[this.#left]; next && next.at <= begin; next = this.#leaving[this.#left]) {
      this.#sum -= next.sum
      this.#count -= next.count
      this.#left += 1
    }
    // Sums of fractions do not cancel out exactly.
    if (this.#count === 0) this.#sum = 0
    return { sum: this.#sum, count: this.#count }
  }
}
