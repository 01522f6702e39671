/** Maximum number of costs from which percentiles are computed: the latest ones. */
const MAX_SAMPLES = 1000

/** The CPU times of a repeated computation, in ms. */
export class CostSamples {
  readonly #latest: number[] = []
  #count = 0
  #sum = 0

  record(ms: number): void {
    this.#latest[this.#count % MAX_SAMPLES] = ms
    this.#count += 1
    this.#sum += ms
  }

  /** The latest costs, in no order. */
  get latest(): readonly number[] {
    return this.#latest
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** The mean of all costs. */
  get mean(): number {
    return this.#sum / this.#count
  }
}
