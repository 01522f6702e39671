import { TICKS_PER_SECOND } from '@eyrie/element'

/**
 * A violation continues until the distance exceeds the threshold by this share, so that
 * it does not flicker.
 */
const HYSTERESIS = 0.1
/** A violation ends after the people have been apart, or one of them lost, for this long. */
const GRACE_TICKS = TICKS_PER_SECOND
/**
 * A track that has been lost for this long has ended. Trackers recover an object
 * earlier or not at all.
 */
const TRACK_TIMEOUT_TICKS = 10 * TICKS_PER_SECOND

/** What is known about the person with a track. */
interface TrackState {
  /** Time of the last frame with the person, in ticks. */
  lastSeenPts: number
  hasViolated: boolean
}

/**
 * Decides which people violate the minimum distance, and counts the people who have and have not.
 * People are identified by their track ids; times (`pts`) are in ticks of the stream.
 *
 * Call `startFrame` for each frame, then `update` for each pair of people in it.
 */
export class ViolationTracker {
  readonly #threshold: number
  /**
   * Ongoing violations by `getPairKey`: `pts` of the last frame in which the people were too close.
   */
  readonly #lastClosePts = new Map<string, number>()
  readonly #tracks = new Map<number, TrackState>()
  /** Time of the current frame. */
  #pts = 0
  #violationCount = 0
  #nonViolationCount = 0

  /** @param threshold Minimum distance in metres. */
  constructor(threshold: number) {
    this.#threshold = threshold
  }

  /**
   * Starts a frame with these tracks. Ends violations and tracks after their timeout, or all of
   * them at a discontinuity.
   */
  startFrame(tracks: readonly number[], pts: number, discontinuity: boolean): void {
    if (discontinuity) {
      this.#lastClosePts.clear()
      for (const track of this.#tracks.keys()) this.#endTrack(track)
    }

    // Violations that were over in the previous frame. The people in this frame have not been
    // compared yet, and frames may be far apart.
    for (const [pair, lastClosePts] of this.#lastClosePts) {
      if (this.#pts - lastClosePts > GRACE_TICKS) this.#lastClosePts.delete(pair)
    }
    this.#pts = pts

    for (const track of tracks) {
      const known = this.#tracks.get(track)
      if (known) known.lastSeenPts = pts
      else this.#tracks.set(track, { lastSeenPts: pts, hasViolated: false })
    }
    for (const [track, { lastSeenPts }] of this.#tracks) {
      if (pts - lastSeenPts > TRACK_TIMEOUT_TICKS) this.#endTrack(track)
    }
  }

  /**
   * Updates the distance of two tracks. Returns whether they violate the minimum distance, and
   * whether that is new.
   */
  update(
    a: number,
    b: number,
    metres: number,
    pts: number,
  ): { isViolating: boolean; isNew: boolean } {
    const pair = getPairKey(a, b)

    const lastClosePts = this.#lastClosePts.get(pair)
    if (lastClosePts !== undefined) {
      const isStillClose = metres < this.#threshold * (1 + HYSTERESIS)
      if (isStillClose) this.#lastClosePts.set(pair, pts)
      return { isViolating: isStillClose || pts - lastClosePts <= GRACE_TICKS, isNew: false }
    }
    if (metres >= this.#threshold) return { isViolating: false, isNew: false }

    this.#lastClosePts.set(pair, pts)
    this.#markViolated(a)
    this.#markViolated(b)
    return { isViolating: true, isNew: true }
  }

  /**
   * Returns the number of tracks that have violated the distance, and of tracks that ended
   * without violating it.
   */
  getCounter(): { violation: number; non_violation: number } {
    return { violation: this.#violationCount, non_violation: this.#nonViolationCount }
  }

  #endTrack(track: number): void {
    if (!this.#tracks.get(track)!.hasViolated) this.#nonViolationCount += 1
    this.#tracks.delete(track)
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
