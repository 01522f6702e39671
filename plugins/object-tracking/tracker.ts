import { type DetectedObject, type Frame, TICKS_PER_SECOND } from '@eyrie/element'
import {
  anyClassIou,
  associate,
  bufferedIou,
  type Detection,
  iou,
  rateDetections,
  sameClassIou,
} from '@eyrie/element/tracking'
import { Track } from './track.ts'

export interface TrackerOptions {
  /** Analysed frames after which a track without a match is deleted. */
  readonly maxAge: number
  /** Maximum number of positions in a track's trail. */
  readonly history: number
  /** Detections are associated on every n-th frame. */
  readonly samplingFrequency: number
}

/**
 * A track is recent up to this number of sampled frames without a match. Later, it is deleted
 * or ignores low scores.
 */
const MAX_RECENT_MISSES = 2

/** A low-score detection starts a track only if its IoU with every known object is less. */
const MAX_NEW_OVERLAP = 0.5

/**
 * The IoU (intersection over union of two boxes) at which a detection may continue a track. The
 * weaker the other evidence, the more the boxes must overlap.
 */
const MIN_IOU_CONFIRMED = {
  highScore: 0.3,
  lowScore: 0.5,
  highScoreAnyClass: 0.6,
  lowScoreAnyClass: 0.7,
}
const MIN_IOU_TENTATIVE = { highScore: 0.3, lowScore: 0.5 }

/** Detections of one frame: those with high confidence, and the others. */
interface DetectionsByScore {
  high: readonly Detection[]
  low: readonly Detection[]
}

/**
 * Tracks objects like ByteTrack (Zhang et al. 2022, "ByteTrack: Multi-Object Tracking by
 * Associating Every Detection Box"): high-score detections are associated with the confirmed tracks
 * first, low-score detections with the remaining, recently matched tracks. Detections without a
 * match start tentative tracks.
 *
 * Two additions: leftover tracks and detections are associated regardless of class, and low-score
 * detections that move consistently start a track if the detector reports at least one of them.
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
  update(frame: Frame): DetectedObject[] {
    // After an interruption of the stream, the objects may be anywhere.
    if (frame.discontinuity) this.#tracks = []

    // When a camera corrects its clock, the timestamps step back once, but objects do not.
    const elapsedSeconds = Math.max(0, frame.pts - this.#lastPts) / TICKS_PER_SECOND
    for (const track of this.#tracks) track.predict(elapsedSeconds)
    this.#lastPts = frame.pts

    const isSampled = this.#frameCount % this.#options.samplingFrequency === 0
    this.#frameCount += 1
    if (isSampled) {
      this.#processDetections(rateDetections(frame))
    } else {
      for (const track of this.#listVisibleTracks()) track.extrapolate()
    }

    return this.#listVisibleTracks().map(track => track.toObject())
  }

  /** The confirmed tracks that had a match in the last sampled frame. */
  #listVisibleTracks(): Track[] {
    return this.#tracks.filter(track => track.isConfirmed && track.framesSinceUpdate === 0)
  }

  #isRecent(track: Track): boolean {
    return track.framesSinceUpdate <= MAX_RECENT_MISSES * this.#options.samplingFrequency
  }

  /**
   * Associates the detections of a sampled frame with the tracks, deletes old tracks
   * and starts new ones.
   */
  #processDetections(detections: readonly Detection[]): void {
    const { maxAge, samplingFrequency } = this.#options
    const confirmed = this.#tracks.filter(track => track.isConfirmed)
    const tentative = this.#tracks.filter(track => !track.isConfirmed)
    const recent = new Set(confirmed.filter(track => this.#isRecent(track)))

    // The count of a track that is matched below is reset to 0.
    for (const track of this.#tracks) track.framesSinceUpdate += samplingFrequency

    const high = detections.filter(({ confidence }) => confidence === 'high')
    const low = detections.filter(({ confidence }) => confidence !== 'high')
    const unmatched = this.#updateConfirmed(confirmed, recent, { high, low })

    const newDetections = { high: unmatched.high, low: this.#removeDuplicates(unmatched.low, high) }
    const started = this.#updateTentative(tentative, newDetections)

    this.#tracks = [
      ...confirmed.filter(track => track.framesSinceUpdate <= maxAge),
      ...tentative.filter(track => this.#isRecent(track)),
      ...started,
    ]
  }

  /**
   * Continues confirmed tracks. Tracks that were not matched recently accept high-score detections
   * only. Returns the unmatched detections.
   */
  #updateConfirmed(
    tracks: readonly Track[],
    recent: ReadonlySet<Track>,
    { high, low }: DetectionsByScore,
  ): DetectionsByScore {
    const min = MIN_IOU_CONFIRMED
    const byHigh = associate(tracks, high, sameClassIou(min.highScore))

    const recentTracks = byHigh.unmatchedTracks.filter(track => recent.has(track))
    const byLow = associate(recentTracks, low, sameClassIou(min.lowScore))

    const byHighOfAnyClass = associate(
      byLow.unmatchedTracks,
      byHigh.unmatchedDetections,
      anyClassIou(min.highScoreAnyClass),
    )
    const byLowOfAnyClass = associate(
      byHighOfAnyClass.unmatchedTracks,
      byLow.unmatchedDetections,
      anyClassIou(min.lowScoreAnyClass),
    )
    return { high: byHighOfAnyClass.unmatchedDetections, low: byLowOfAnyClass.unmatchedDetections }
  }

  /**
   * Removes low-score detections that overlap a known object. Most likely, they are second
   * detections of that object.
   */
  #removeDuplicates(low: readonly Detection[], high: readonly Detection[]): Detection[] {
    const trackBoxes = this.#listVisibleTracks().map(track => track.predictedBox)
    const knownBoxes = [...trackBoxes, ...high.map(detection => detection.bbox)]
    return low.filter(({ bbox }) => knownBoxes.every(known => iou(known, bbox) < MAX_NEW_OVERLAP))
  }

  /** Continues and confirms tentative tracks. Returns new tracks for the unmatched detections. */
  #updateTentative(tentative: readonly Track[], { high, low }: DetectionsByScore): Track[] {
    const min = MIN_IOU_TENTATIVE
    const byHigh = associate(tentative, high, bufferedIou(min.highScore))
    const byLow = associate(byHigh.unmatchedTracks, low, anyClassIou(min.lowScore))

    const matched = [...byHigh.matchedTracks, ...byLow.matchedTracks]
    for (const track of matched.filter(({ isReliable }) => isReliable)) {
      this.#lastId += 1
      track.id = this.#lastId
    }

    const unmatched = [...byHigh.unmatchedDetections, ...byLow.unmatchedDetections]
    return unmatched.map(detection => new Track(detection, this.#options.history))
  }
}
