import { type DetectedObject, type Frame, TICKS_PER_SECOND } from '@eyrie/element'
import { anyClass, firstStep, isStrong, overlap, pair, sameClass } from '@eyrie/element/tracking'
import { Track } from './track.ts'

export interface TrackerOptions {
  /** Analysed frames that a track lives without a match. */
  readonly maxAge: number
  /** Positions in a track's trail. */
  readonly history: number
  /** Detections are associated on every n-th frame. */
  readonly samplingFrequency: number
}

/** Detections in a row that may be missing of what is not sure to be an object yet. */
const PATIENCE = 2

/**
 * Follows objects from frame to frame as ByteTrack does (Zhang et al. 2022, "ByteTrack: Multi-Object Tracking by
 * Associating Every Detection Box"): the strong detections are paired with the tracks, then the weak ones with those
 * tracks left that were in sight. Ours are the steps after these, which pair what is left across classes, the strong
 * ones first; and that weak detections, too, make a track where they move together.
 */
export class Tracker {
  readonly #options: TrackerOptions
  #tracks: Track[] = []
  #numbered = 0
  #analysed = 0
  #pts = 0

  constructor(options: TrackerOptions) {
    this.#options = options
  }

  /** The tracked objects in sight at the next frame. */
  next({ objects, pts, discontinuity }: Frame): DetectedObject[] {
    if (discontinuity) this.#tracks = []
    for (const track of this.#tracks) track.predict((pts - this.#pts) / TICKS_PER_SECOND)
    this.#pts = pts
    if (this.#analysed++ % this.#options.samplingFrequency === 0) this.#associate(objects)
    else for (const track of this.#inSight()) track.assume()
    return this.#inSight().map(track => track.toObject())
  }

  #inSight(): Track[] {
    return this.#tracks.filter(track => track.number !== undefined && track.missed === 0)
  }

  #associate(detections: readonly DetectedObject[]): void {
    const { maxAge, samplingFrequency } = this.#options
    const confirmed = this.#tracks.filter(({ number }) => number !== undefined)
    const tentative = this.#tracks.filter(({ number }) => number === undefined)
    const isFresh = ({ missed }: Track) => missed <= PATIENCE * samplingFrequency
    const fresh = new Set(confirmed.filter(isFresh))
    for (const track of this.#tracks) track.missed += samplingFrequency

    const strong = detections.filter(isStrong)
    const weak = detections.filter(detection => !isStrong(detection))
    const left = this.#continue(confirmed, fresh, strong, weak)
    // Weak ones that lie on something known are a second, doubtful opinion on it.
    const known = [...this.#inSight().map(({ expected }) => expected), ...strong.map(({ bbox }) => bbox)]
    const unexplained = left.weak.filter(({ bbox }) => known.every(other => overlap(other, bbox) < 0.5))
    const begun = this.#begin(tentative, left.strong, unexplained)
    this.#tracks = [
      ...confirmed.filter(({ missed }) => missed <= maxAge),
      ...tentative.filter(isFresh),
      ...begun,
    ]
  }

  /** Goes on with the tracks, those out of sight for longer by strong detections alone; gives the detections left. */
  #continue(
    tracks: readonly Track[],
    fresh: ReadonlySet<Track>,
    strong: readonly DetectedObject[],
    weak: readonly DetectedObject[],
  ) {
    const isFresh = (track: Track) => fresh.has(track)
    const first = pair(tracks, strong, sameClass(0.3))
    const second = pair(first.tracks.filter(isFresh), weak, sameClass(0.5))
    const third = pair(second.tracks, first.detections, anyClass(0.6))
    const fourth = pair(third.tracks, second.detections, anyClass(0.7))
    return { strong: third.detections, weak: fourth.detections }
  }

  /** Numbers what has become sure, and gives new tracks for the detections that belong to none. */
  #begin(
    tentative: readonly Track[],
    strong: readonly DetectedObject[],
    weak: readonly DetectedObject[],
  ): Track[] {
    const first = pair(tentative, strong, firstStep(0.3))
    const second = pair(first.tracks, weak, anyClass(0.5))
    for (const track of [...first.matched, ...second.matched])
      if (track.isSure) track.number = ++this.#numbered
    return [...first.detections, ...second.detections].map(
      detection => new Track(detection, this.#options.history),
    )
  }
}
