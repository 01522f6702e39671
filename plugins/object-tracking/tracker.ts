import type { DetectedObject, Frame } from '@eyrie/element'
import { anyClass, firstStep, isStrong, pair, sameClass } from '@eyrie/element/tracking'
import { Track } from './track.ts'

export interface TrackerOptions {
  /** Analysed frames that a track lives without a match. */
  readonly maxAge: number
  /** Positions in a track's trail. */
  readonly history: number
  /** Detections are associated on every n-th frame. */
  readonly samplingFrequency: number
}

/**
 * Follows objects from frame to frame as ByteTrack does (Zhang et al. 2022, "ByteTrack: Multi-Object Tracking by
 * Associating Every Detection Box"): the strong detections are paired with the tracks, then the weak ones with those
 * tracks left that were in sight. Ours is the step after these, which pairs what is left across classes.
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
    for (const track of this.#tracks) track.predict((pts - this.#pts) / 90_000)
    this.#pts = pts
    if (this.#analysed++ % this.#options.samplingFrequency === 0) this.#associate(objects)
    else for (const track of this.#inSight()) track.assume()
    return this.#inSight().map(track => track.toObject())
  }

  #inSight(): Track[] {
    return this.#tracks.filter(track => track.number !== undefined && track.missed === 0)
  }

  #associate(detections: readonly DetectedObject[]): void {
    const { maxAge, history, samplingFrequency } = this.#options
    const strong = detections.filter(isStrong)
    const weak = detections.filter(detection => !isStrong(detection))
    const confirmed = this.#tracks.filter(({ number }) => number !== undefined)
    const tentative = this.#tracks.filter(({ number }) => number === undefined)
    const wasInSight = new Set(this.#inSight())
    for (const track of this.#tracks) track.missed += samplingFrequency

    const first = pair(confirmed, strong, sameClass(0.3))
    const second = pair(
      first.tracks.filter(track => wasInSight.has(track)),
      weak,
      sameClass(0.5),
    )
    const third = pair(second.tracks, first.detections, anyClass(0.6))
    const begun = pair(tentative, third.detections, firstStep(0.3))
    const waiting = pair(begun.tracks, second.detections, sameClass(0.5))

    for (const track of begun.matched) track.number = ++this.#numbered
    this.#tracks = [
      ...confirmed.filter(({ missed }) => missed <= maxAge),
      ...begun.matched,
      ...waiting.matched,
      ...begun.detections.map(detection => new Track(detection, history)),
    ]
  }
}
