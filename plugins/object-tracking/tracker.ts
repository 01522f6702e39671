import { type DetectedObject, type Frame, TICKS_PER_SECOND } from '@eyrie/element'
import { anyClassIou, associate, bufferedIou, iou, isHighScore, sameClassIou } from '@eyrie/element/tracking'
import { Track } from './track.ts'

export interface TrackerOptions {
  /** Analysed frames after which a track without a match is deleted. */
  readonly maxAge: number
  /** Maximum number of positions in a track's trail. */
  readonly history: number
  /** Detections are associated on every n-th frame. */
  readonly samplingFrequency: number
}

/** Sampled frames without a match after which a tentative track is deleted and a confirmed one ignores low scores. */
const MAX_RECENT_MISSES = 2

/**
 * Tracks objects like ByteTrack (Zhang et al. 2022, "ByteTrack: Multi-Object Tracking by Associating Every Detection
 * Box"): high-score detections are associated with the confirmed tracks first, low-score ones then with the remaining,
 * recently matched tracks.
 *
 * Two additions: leftover tracks and detections are associated regardless of class, and low-score detections that move
 * consistently start a track.
 */
export class Tracker {
  readonly #options: TrackerOptions
  #tracks: Track[] = []
  #lastId = 0
  #frameCount = 0
  #lastPts = 0

  constructor(options: TrackerOptions) {
    this.#options = options
  }

  /** Advances all tracks to `frame`. Returns the confirmed tracks that are visible in it. */
  update({ objects, pts, discontinuity }: Frame): DetectedObject[] {
    if (discontinuity) this.#tracks = []
    for (const track of this.#tracks) track.predict((pts - this.#lastPts) / TICKS_PER_SECOND)
    this.#lastPts = pts
    if (this.#frameCount++ % this.#options.samplingFrequency === 0) this.#processDetections(objects)
    else for (const track of this.#visibleTracks()) track.extrapolate()
    return this.#visibleTracks().map(track => track.toObject())
  }

  #visibleTracks(): Track[] {
    return this.#tracks.filter(track => track.id !== undefined && track.framesSinceUpdate === 0)
  }

  #processDetections(detections: readonly DetectedObject[]): void {
    const { maxAge, samplingFrequency } = this.#options
    const confirmed = this.#tracks.filter(({ id }) => id !== undefined)
    const tentative = this.#tracks.filter(({ id }) => id === undefined)
    const isRecent = ({ framesSinceUpdate }: Track) =>
      framesSinceUpdate <= MAX_RECENT_MISSES * samplingFrequency
    const recent = new Set(confirmed.filter(isRecent))
    for (const track of this.#tracks) track.framesSinceUpdate += samplingFrequency

    const high = detections.filter(isHighScore)
    const low = detections.filter(detection => !isHighScore(detection))
    const unmatched = this.#updateConfirmed(confirmed, recent, high, low)
    // A low-score detection that overlaps a known object is most likely a duplicate of it.
    const known = [
      ...this.#visibleTracks().map(({ predictedBox }) => predictedBox),
      ...high.map(({ bbox }) => bbox),
    ]
    const newLow = unmatched.low.filter(({ bbox }) => known.every(other => iou(other, bbox) < 0.5))
    const started = this.#updateTentative(tentative, unmatched.high, newLow)
    this.#tracks = [
      ...confirmed.filter(({ framesSinceUpdate }) => framesSinceUpdate <= maxAge),
      ...tentative.filter(isRecent),
      ...started,
    ]
  }

  /**
   * Continues confirmed tracks. Tracks that were not matched recently accept high-score detections only.
   * Returns the unmatched detections.
   */
  #updateConfirmed(
    tracks: readonly Track[],
    recent: ReadonlySet<Track>,
    high: readonly DetectedObject[],
    low: readonly DetectedObject[],
  ) {
    const isRecent = (track: Track) => recent.has(track)
    const first = associate(tracks, high, sameClassIou(0.3))
    const second = associate(first.unmatchedTracks.filter(isRecent), low, sameClassIou(0.5))
    const third = associate(second.unmatchedTracks, first.unmatchedDetections, anyClassIou(0.6))
    const fourth = associate(third.unmatchedTracks, second.unmatchedDetections, anyClassIou(0.7))
    return { high: third.unmatchedDetections, low: fourth.unmatchedDetections }
  }

  /** Continues and confirms tentative tracks. Returns new tracks for the unmatched detections. */
  #updateTentative(
    tentative: readonly Track[],
    high: readonly DetectedObject[],
    low: readonly DetectedObject[],
  ): Track[] {
    const first = associate(tentative, high, bufferedIou(0.3))
    const second = associate(first.unmatchedTracks, low, anyClassIou(0.5))
    for (const track of [...first.matchedTracks, ...second.matchedTracks])
      if (track.isReliable) track.id = ++this.#lastId
    return [...first.unmatchedDetections, ...second.unmatchedDetections].map(
      detection => new Track(detection, this.#options.history),
    )
  }
}
