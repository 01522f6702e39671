const WINDOW_MS = 10_000
/** A drop rate is only meaningful over at least this many frames… */
const MIN_FRAMES = 20
/** …unless no frame was analysed while at least this many were dropped over this time. */
const MIN_STARVED_FRAMES = 3
const STARVED_MS = 5000
/** A channel becomes overloaded above the first drop rate and recovers below the second. */
const OVERLOAD_RATE = 0.1
const RECOVERY_RATE = 0.03

/** Why frames were dropped: for lack of capacity, or because something failed. */
export type DropCause = 'overload' | 'failed'

/** Throughput, latency and drops of a channel over the last ten seconds. Times in ms of a monotonic clock. */
export class FrameStatistics {
  readonly #now: () => number
  readonly #startedAt: number
  #analysed: { at: number; latencyMs: number }[] = []
  #overloadDrops: { at: number; frames: number }[] = []
  #totalAnalysed = 0
  readonly #totalDropped = { overload: 0, failed: 0 }
  #isRateExceeded = false
  #yieldedAt = Number.NEGATIVE_INFINITY

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#startedAt = now()
  }

  recordAnalysed(latencyMs: number): void {
    this.#totalAnalysed++
    this.#analysed.push({ at: this.#now(), latencyMs })
  }

  recordDropped(frames: number, cause: DropCause): void {
    this.#totalDropped[cause] += frames
    if (cause === 'overload') this.#overloadDrops.push({ at: this.#now(), frames })
  }

  /** A frame was dropped in favour of pipelines of higher priority. */
  recordYield(): void {
    this.#yieldedAt = this.#now()
  }

  /** Whether frames were recently dropped in favour of pipelines of higher priority. */
  get isYielding(): boolean {
    return this.#yieldedAt >= this.#now() - WINDOW_MS
  }

  /** Frames analysed since the channel started. */
  get totalAnalysed(): number {
    return this.#totalAnalysed
  }

  /** Frames dropped since the channel started. */
  get totalDropped(): Readonly<Record<DropCause, number>> {
    return this.#totalDropped
  }

  /** Analysed frames per second. */
  get fps(): number {
    const seconds = Math.min(WINDOW_MS, Math.max(1000, this.#now() - this.#startedAt)) / 1000
    return this.#recentAnalysed().length / seconds
  }

  /** Time from decoded frame to output of each analysed frame, in ms. */
  get latencies(): number[] {
    return this.#recentAnalysed().map(({ latencyMs }) => latencyMs)
  }

  /** Share of frames that were dropped for lack of capacity, 0..1. */
  get dropRate(): number {
    const dropped = this.#countRecentOverloadDrops()
    return dropped === 0 ? 0 : dropped / (dropped + this.#recentAnalysed().length)
  }

  /** Whether the machine is too slow for this channel, with hysteresis so that the state doesn't flicker. */
  get isOverloaded(): boolean {
    const dropped = this.#countRecentOverloadDrops()
    const analysed = this.#recentAnalysed().length
    const firstDropAt = this.#overloadDrops[0]?.at ?? this.#now()
    const isStarved =
      analysed === 0 && dropped >= MIN_STARVED_FRAMES && this.#now() - firstDropAt >= STARVED_MS
    // A source with few frames can only leave the overloaded state by its rate, never enter it.
    this.#isRateExceeded = this.#isRateExceeded
      ? this.dropRate > RECOVERY_RATE
      : dropped + analysed >= MIN_FRAMES && this.dropRate > OVERLOAD_RATE
    return this.#isRateExceeded || isStarved
  }

  #countRecentOverloadDrops(): number {
    const oldest = this.#now() - WINDOW_MS
    this.#overloadDrops = this.#overloadDrops.filter(({ at }) => at >= oldest)
    return this.#overloadDrops.reduce((sum, { frames }) => sum + frames, 0)
  }

  #recentAnalysed() {
    const oldest = this.#now() - WINDOW_MS
    this.#analysed = this.#analysed.filter(({ at }) => at >= oldest)
    return this.#analysed
  }
}

/** The median of `values`; 0 if there are none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The `q`-quantile of `values`, with `q` from 0 to 1; 0 if there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(q * sorted.length), sorted.length - 1)] ?? 0
}
