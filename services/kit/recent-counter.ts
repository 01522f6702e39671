/** How much was lost lately, so that what is over is not complained of for ever. */
export class RecentCounter {
  readonly #now: () => number
  readonly #rememberedMs: number
  #count = 0
  #last = Number.NEGATIVE_INFINITY

  /** `now` in ms of a clock that never jumps. */
  constructor(now: () => number = () => performance.now(), rememberedMs = 10_000) {
    this.#now = now
    this.#rememberedMs = rememberedMs
  }

  add(): void {
    this.#count = this.recent + 1
    this.#last = this.#now()
  }

  /** 0 once there has been none for as long as is remembered. */
  get recent(): number {
    return this.#now() - this.#last < this.#rememberedMs ? this.#count : 0
  }
}
