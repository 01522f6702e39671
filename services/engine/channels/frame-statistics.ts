/** The statistics of a channel cover the last ten seconds. */
const WINDOW_MS = 10_000
/** A channel becomes overloaded when it drops a larger share of its frames. */
const OVERLOAD_RATE = 0.1
/**
 * An overloaded channel recovers when it drops no more than this share. It is lower than
 * `OVERLOAD_RATE`, so that the state does not change back and forth.
 */
const RECOVERY_RATE = 0.03
/** With fewer frames in the window, the share of dropped frames says too little. */
const MIN_FRAMES = 20
/**
 * A channel is also overloaded if it drops at least this number of frames and analyses none at all.
 */
const MIN_STARVED_FRAMES = 3
/** A channel becomes overloaded only if it drops frames for at least this time. */
const MIN_OVERLOAD_MS = 5000
/** The frame rate of a channel that has just started is computed over at least this time. */
const MIN_RATE_WINDOW_MS = 1000

/** Why frames were dropped: for lack of capacity, or because something failed. */
export type DropCause = 'overload' | 'failed'

/**
 * Measures the throughput, latency and drops of a channel over the last ten seconds. Times are in
 * ms of a monotonic clock.
 */
export class FrameStatistics {
  readonly #now: () => number
  readonly #startedAt: number
  /** The frames and drops within the window; older ones are removed when these are read. */
  #analysed: { time: number; latencyMs: number }[] = []
  #overloadDrops: { time: number; frameCount: number }[] = []
  #totalAnalysed = 0
  readonly #totalDropped = { overload: 0, failed: 0 }
  /** Whether the drop rate was too high when `isOverloaded` was last read. */
  #isDropRateHigh = false
  /** When a frame was last dropped in favour of a pipeline of higher priority. */
  #yieldedAt = Number.NEGATIVE_INFINITY

  constructor(now = () => performance.now()) {
    this.#now = now
    this.#startedAt = now()
  }

  recordAnalysed(latencyMs: number): void {
    this.#totalAnalysed++
    this.#analysed.push({ time: this.#now(), latencyMs })
  }

  recordDropped(frameCount: number, cause: DropCause): void {
    this.#totalDropped[cause] += frameCount
    if (cause === 'overload') this.#overloadDrops.push({ time: this.#now(), frameCount })
  }

  /** Records that a frame was dropped in favour of a pipeline of higher priority. */
  recordYield(): void {
    this.#yieldedAt = this.#now()
  }

  /**
   * Whether a frame was dropped in favour of a pipeline of higher priority within
   * the last ten seconds.
   */
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
    const age = this.#now() - this.#startedAt
    const windowMs = Math.min(WINDOW_MS, Math.max(MIN_RATE_WINDOW_MS, age))
    return (this.#recentAnalysed().length * 1000) / windowMs
  }

  /** Latency of each analysed frame, from decoding to output, in ms. */
  get latencies(): number[] {
    return this.#recentAnalysed().map(({ latencyMs }) => latencyMs)
  }

  /** Share of frames that were dropped for lack of capacity, 0..1. */
  get dropRate(): number {
    const dropped = this.#countRecentOverloadDrops()
    return dropped === 0 ? 0 : dropped / (dropped + this.#recentAnalysed().length)
  }

  /** Whether the machine is too slow for this channel. */
  get isOverloaded(): boolean {
    this.#isDropRateHigh = this.#isDropRateHigh
      ? this.dropRate > RECOVERY_RATE
      : this.#isOverloadStarting()
    return this.#isDropRateHigh || this.#isStarved()
  }

  #isOverloadStarting(): boolean {
    // Frames that are dropped before the first one is analysed, such as while a model is loaded,
    // say nothing about the machine.
    const [first] = this.#recentAnalysed()
    if (first === undefined || this.#now() - first.time < MIN_OVERLOAD_MS) return false

    const dropped = this.#countOverloadDropsSince(first.time)
    const frameCount = dropped + this.#analysed.length
    return frameCount >= MIN_FRAMES && dropped / frameCount > OVERLOAD_RATE
  }

  #isStarved(): boolean {
    const dropped = this.#countRecentOverloadDrops()
    if (dropped < MIN_STARVED_FRAMES || this.#recentAnalysed().length > 0) return false
    const firstDropTime = this.#overloadDrops[0]!.time
    return this.#now() - firstDropTime >= MIN_OVERLOAD_MS
  }

  /** Returns the number of frames dropped for lack of capacity within the window. */
  #countRecentOverloadDrops(): number {
    const windowStart = this.#now() - WINDOW_MS
    this.#overloadDrops = this.#overloadDrops.filter(({ time }) => time >= windowStart)
    return this.#countOverloadDropsSince(windowStart)
  }

  #countOverloadDropsSince(start: number): number {
    const drops = this.#overloadDrops.filter(({ time }) => time >= start)
    return drops.reduce((sum, { frameCount }) => sum + frameCount, 0)
  }

  /** Returns the frames analysed within the window. */
  #recentAnalysed() {
    const windowStart = this.#now() - WINDOW_MS
    this.#analysed = this.#analysed.filter(({ time }) => time >= windowStart)
    return this.#analysed
  }
}
