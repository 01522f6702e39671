/**
 * The progress of a channel through the numbered frames of its feed. The channel handles each frame
 * once, in order: it admits the frame to the analysis or skips it. An admitted frame is in flight
 * until its results are published.
 */
export class FrameProgress {
  #lastHandled: number | undefined
  #newest = 0
  #newestArrivedAt = 0
  /** Numbers of the frames in flight. */
  #inFlight = new Set<number>()

  /** Number of the last frame that was admitted or skipped; undefined before the first one. */
  get lastHandled(): number | undefined {
    return this.#lastHandled
  }

  /** When the newest frame arrived, in ms of the monotonic clock. */
  get newestArrivedAt(): number {
    return this.#newestArrivedAt
  }

  get inFlightCount(): number {
    return this.#inFlight.size
  }

  /** The frames up to this number have all been published or skipped. */
  get lastReleased(): number {
    return Math.min((this.#lastHandled ?? 0) + 1, ...this.#inFlight) - 1
  }

  /** Whether frames up to `newest` wait to be handled; false before the first handled frame. */
  isBehind(newest: number): boolean {
    return this.#lastHandled !== undefined && newest > this.#lastHandled
  }

  /** Records the time of arrival of frame `n`, unless it has been recorded already. */
  recordArrival(n: number): void {
    if (n <= this.#newest) return
    this.#newest = n
    this.#newestArrivedAt = performance.now()
  }

  /** Begins with the frame after `n`, unless the channel has begun already. */
  beginAfter(n: number): void {
    this.#lastHandled ??= n
  }

  /** Skips the frames up to `n`. Returns the number of skipped frames. */
  skipTo(n: number): number {
    if (this.#lastHandled === undefined || n <= this.#lastHandled) return 0
    const skippedCount = n - this.#lastHandled
    this.#lastHandled = n
    return skippedCount
  }

  /** Marks the next frame as handled. Returns its number. */
  advance(): number {
    this.#lastHandled = (this.#lastHandled ?? 0) + 1
    return this.#lastHandled
  }

  /** Marks frame `n` as in flight, until the returned function is called. */
  startFlight(n: number): () => void {
    // `reset` creates another set: later frames may have the same numbers.
    const inFlight = this.#inFlight
    inFlight.add(n)
    return () => inFlight.delete(n)
  }

  /**
   * Discards the progress, because the feed may number its frames from 1 again. The next call of
   * `beginAfter` determines where the channel continues.
   */
  reset(): void {
    this.#lastHandled = undefined
    this.#newest = 0
    this.#inFlight = new Set()
  }
}
