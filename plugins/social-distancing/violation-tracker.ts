import { TICKS_PER_SECOND } from '@eyrie/element'

/** Hysteresis: a violation lasts until the distance exceeds the threshold by this share. */
const HYSTERESIS = 0.1
/** A violation ends after the people have been apart, or one of them lost, for this long. */
const GRACE_TICKS = TICKS_PER_SECOND
/** A track has ended when it has been lost for this long; trackers recover objects before that. */
const TRACK_TIMEOUT_TICKS = 10 * TICKS_PER_SECOND

interface TrackState {
  lastSeenPts: number
  hasViolated: boolean
}

/** Tracks which people violate the minimum distance. */
export class ViolationTracker {
  readonly #threshold: number
  /** pts of the last frame below the threshold (plus hysteresis), by `getPairKey`, of ongoing violations. */
  readonly #violations = new Map<string, number>()
  readonly #tracks = new Map<number, TrackState>()
  #violationCount = 0
  #nonViolationCount = 0

  /** @param threshold Minimum distance in metres. */
  constructor(threshold: number) {
    this.#threshold = threshold
  }

  /** Starts a frame with the given tracks. Ends violations and tracks that timed out, or all after a discontinuity. */
  startFrame(tracks: readonly number[], pts: number, discontinuity: boolean): void {
    for (const [key, lastClosePts] of this.#violations)
      if (discontinuity || pts - lastClosePts > GRACE_TICKS) this.#violations.delete(key)
    for (const [track, { lastSeenPts, hasViolated }] of this.#tracks) {
      if (!discontinuity && pts - lastSeenPts <= TRACK_TIMEOUT_TICKS) continue
      this.#tracks.delete(track)
      if (!hasViolated) this.#nonViolationCount += 1
    }
    for (const track of tracks) {
      const state = this.#tracks.get(track)
      if (state) state.lastSeenPts = pts
      else this.#tracks.set(track, { lastSeenPts: pts, hasViolated: false })
    }
  }

  /**
   * Updates the distance of two tracks in metres. Returns whether they violate it, and whether the violation is new.
   */
  update(a: number, b: number, metres: number, pts: number): { isViolating: boolean; isNew: boolean } {
    const key = getPairKey(a, b)
    if (this.#violations.has(key)) {
      if (metres < this.#threshold * (1 + HYSTERESIS)) this.#violations.set(key, pts)
      return { isViolating: true, isNew: false }
    }
    if (metres >= this.#threshold) return { isViolating: false, isNew: false }
    this.#violations.set(key, pts)
    for (const track of [a, b]) this.#markViolated(track)
    return { isViolating: true, isNew: true }
  }

  /** Number of tracks that have violated the distance, and of tracks that ended without violating it. */
  getCounter(): { violation: number; non_violation: number } {
    return { violation: this.#violationCount, non_violation: this.#nonViolationCount }
  }

  #markViolated(track: number): void {
    const state = this.#tracks.get(track)!
    if (!state.hasViolated) this.#violationCount += 1
    state.hasViolated = true
  }
}

function getPairKey(a: number, b: number): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}
