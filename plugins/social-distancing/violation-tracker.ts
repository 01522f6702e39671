import { TICKS_PER_SECOND } from '@eyrie/element'

/**
 * A violation continues until the distance exceeds the threshold by this share, so that
 * it does not flicker.
 */
const HYSTERESIS = 0.1
/** A violation ends after the people have been apart, or one of them lost, for this long. */
const GRACE_TICKS = TICKS_PER_SECOND
/**
 * A track that has been lost for this long, and for this number of frames, has ended. Trackers
 * recover lost objects for 30 frames by default, which may take longer.
 */
const TRACK_TIMEOUT_TICKS = 10 * TICKS_PER_SECOND
const TRACK_TIMEOUT_FRAMES = 30
/**
 * Number of counted tracks that are remembered. A tracker with a greater `max_age` recovers objects
 * whose track has ended here, and they must not be counted again.
 */
const MAX_COUNTED_TRACKS = 10_000

/** The last frame with a person: its time in ticks, and its number. */
interface LastSeen {
  pts: number
  frame: number
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
   * Ongoing violations by the lower, then the higher of the two tracks: `pts` of the last frame in
   * which the people were too close.
   */
  readonly #lastClosePts = new Map<number, Map<number, number>>()
  /** The tracks that have not ended. */
  readonly #tracks = new Map<number, LastSeen>()
  /** The tracks that were counted last. */
  readonly #violators = new Set<number>()
  readonly #nonViolators = new Set<number>()
  /** Time and number of the current frame. */
  #pts = 0
  #frame = 0
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
      // From now on, the ids belong to other people.
      this.#violators.clear()
      this.#nonViolators.clear()
    }

    // Violations that were over in the previous frame. The people in this frame have not been
    // compared yet, and frames may be far apart.
    for (const [lowTrack, partners] of this.#lastClosePts) {
      for (const [highTrack, lastClosePts] of partners) {
        if (this.#pts - lastClosePts > GRACE_TICKS) partners.delete(highTrack)
      }
      if (partners.size === 0) this.#lastClosePts.delete(lowTrack)
    }
    this.#pts = pts
    this.#frame += 1

    for (const track of tracks) this.#tracks.set(track, { pts, frame: this.#frame })
    for (const [track, lastSeen] of this.#tracks) {
      const isOverdue = pts - lastSeen.pts > TRACK_TIMEOUT_TICKS
      if (isOverdue && this.#frame - lastSeen.frame > TRACK_TIMEOUT_FRAMES) this.#endTrack(track)
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
    const lowTrack = Math.min(a, b)
    const highTrack = Math.max(a, b)
    const lastClosePts = this.#lastClosePts.get(lowTrack)?.get(highTrack)
    if (lastClosePts !== undefined) {
      const isStillClose = metres < this.#threshold * (1 + HYSTERESIS)
      if (isStillClose) this.#setLastClose(lowTrack, highTrack, pts)
      return { isViolating: isStillClose || pts - lastClosePts <= GRACE_TICKS, isNew: false }
    }
    if (metres >= this.#threshold) return { isViolating: false, isNew: false }

    this.#setLastClose(lowTrack, highTrack, pts)
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

  #setLastClose(lowTrack: number, highTrack: number, pts: number): void {
    const partners = this.#lastClosePts.get(lowTrack)
    if (partners) partners.set(highTrack, pts)
    else this.#lastClosePts.set(lowTrack, new Map([[highTrack, pts]]))
  }

  #endTrack(track: number): void {
    this.#tracks.delete(track)
    if (this.#violators.has(track) || this.#nonViolators.has(track)) return
    this.#nonViolationCount += 1
    remember(this.#nonViolators, track)
  }

  #markViolated(track: number): void {
    if (this.#violators.has(track)) return
    this.#violationCount += 1
    remember(this.#violators, track)
  }
}

/** Adds a track to the counted ones, and deletes the one that was counted first of too many. */
function remember(counted: Set<number>, track: number): void {
  counted.add(track)
  const [first] = counted
  if (counted.size > MAX_COUNTED_TRACKS) counted.delete(first!)
}
