/** A stream of pseudo-random numbers, the same for a seed everywhere (Mulberry32, Tommy Ettinger). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next()
  }

  /** A whole number from low to high, both included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** About normal with mean 0 and variance 1: a sum of four uniform numbers. */
  gaussian(): number {
    return (this.next() + this.next() + this.next() + this.next() - 2) * 1.7
  }
}
