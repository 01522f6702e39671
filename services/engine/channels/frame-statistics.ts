const WINDOW_MS = 10_000
/** Of fewer frames no share is told, unless none of so many was analysed for so long. */
const FRAMES_TOLD = 20
const FRAMES_STARVED = 3
const STARVED_MS = 5000
/** Above this share of dropped frames a channel lacks capacity; it does until the share falls below the second. */
const LACK = 0.1
const RELIEF = 0.03

/** What a channel has done over the last ten seconds. Times in ms of a monotonic clock. */
export class FrameStatistics {
  readonly #now: () => number
  #since: number
  #analysed: { at: number; latencyMs: number }[] = []
  #lost: { at: number; frames: number }[] = []
  #analysedInAll = 0
  readonly #dropped = { lacking: 0, failed: 0 }
  #lacking = false
  #yieldedAt = Number.NEGATIVE_INFINITY

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#since = now()
  }

  analysed(latencyMs: number): void {
    this.#analysedInAll++
    this.#analysed.push({ at: this.#now(), latencyMs })
  }

  /** Frames that were not analysed. `lacking`: for want of capacity, not because something had failed. */
  dropped(frames: number, cause: 'lacking' | 'failed'): void {
    this.#dropped[cause] += frames
    if (cause === 'lacking') this.#lost.push({ at: this.#now(), frames })
  }

  /** A frame was dropped because pipelines of higher priority went first. */
  yielded(): void {
    this.#yieldedAt = this.#now()
  }

  /** Whether frames have been dropped for the sake of higher priorities. */
  get yielding(): boolean {
    return this.#yieldedAt >= this.#now() - WINDOW_MS
  }

  /** Frames analysed since the channel began. */
  get analysedInAll(): number {
    return this.#analysedInAll
  }

  /** Frames dropped since the channel began. */
  get droppedInAll(): Readonly<Record<'lacking' | 'failed', number>> {
    return this.#dropped
  }

  /** Analysed frames a second. */
  get fps(): number {
    const seconds = Math.min(WINDOW_MS, Math.max(1000, this.#now() - this.#since)) / 1000
    return this.#recent().length / seconds
  }

  /** ms from decoded frame to output, of each analysed frame. */
  get latencies(): number[] {
    return this.#recent().map(({ latencyMs }) => latencyMs)
  }

  /** Which share of the frames was dropped for want of capacity, 0..1. */
  get lack(): number {
    const lost = this.#lostOfLate()
    return lost === 0 ? 0 : lost / (lost + this.#recent().length)
  }

  /** Whether the machine is too slow for this channel; slow to change, so that it doesn't flicker. */
  get lacking(): boolean {
    const lost = this.#lostOfLate()
    const analysed = this.#recent().length
    const since = this.#lost[0]?.at ?? this.#now()
    const isTold = lost + analysed >= FRAMES_TOLD
    const isStarved = analysed === 0 && lost >= FRAMES_STARVED && this.#now() - since >= STARVED_MS
    // A source that has hardly enough frames to tell goes on lacking while it has too few.
    this.#lacking = this.#lacking ? this.lack > RELIEF : isTold && this.lack > LACK
    return this.#lacking || isStarved
  }

  #lostOfLate(): number {
    const oldest = this.#now() - WINDOW_MS
    this.#lost = this.#lost.filter(({ at }) => at >= oldest)
    return this.#lost.reduce((sum, { frames }) => sum + frames, 0)
  }

  #recent() {
    const oldest = this.#now() - WINDOW_MS
    this.#analysed = this.#analysed.filter(({ at }) => at >= oldest)
    return this.#analysed
  }
}

/** The middle of `values`; 0 of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value that a share `q`, 0..1, of `values` lies below; 0 of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(q * sorted.length), sorted.length - 1)] ?? 0
}
