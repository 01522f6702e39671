import { type BBox, clipToPicture, type DetectedObject, type Point } from '@eyrie/element'
import {
  type AssociableTrack,
  ClassVote,
  type Detection,
  KalmanBox,
  LOW_SCORE_NOISE_SCALE,
} from '@eyrie/element/tracking'

/** A track is confirmed after this number of high-score detections. */
const MIN_HIGH_SCORE_DETECTIONS = 2
/**
 * The track of an object that has moved is also confirmed if the scores of its
 * detections add up to this.
 */
const MIN_TOTAL_SCORE = 1

/**
 * Positions in trails are rounded to this fraction of the picture, because trails are long and
 * sent with every frame.
 */
const TRAIL_STEPS_PER_PICTURE = 10_000

/**
 * An object that the tracker follows from frame to frame, with the prediction of its position and
 * the trail of its past positions. A new track is tentative. The tracker confirms it, by assigning
 * an id, when there is enough evidence for it.
 */
export class Track implements AssociableTrack<Detection> {
  /** Assigned when the track is confirmed. */
  id: number | undefined
  /** Analysed frames since the last associated detection. */
  framesSinceUpdate = 0

  /** Smooths the detected boxes and predicts the next one. */
  readonly #kalman: KalmanBox
  /** Cached, because the tracker reads the box many times per frame. */
  #predictedBox: BBox | undefined

  readonly #maxTrailLength: number
  readonly #trail: Point[] = []

  readonly #firstBox: BBox
  #highScoreDetections = 0
  /** Whether the detector reports the latest detection, rather than only passing it to trackers. */
  #isReported = false
  #totalScore = 0
  /**
   * The model may classify an object differently in each frame. The track has the class
   * with the most votes.
   */
  readonly #classVote = new ClassVote()

  /** The latest detection, with the class and box of the track. */
  #object: DetectedObject

  constructor(first: Detection, maxTrailLength: number) {
    this.#maxTrailLength = maxTrailLength
    this.#firstBox = first.bbox
    this.#kalman = new KalmanBox(first.bbox)
    this.#object = this.#addDetection(first)
  }

  get isConfirmed(): boolean {
    return this.id !== undefined
  }

  get class(): string {
    return this.#object.class
  }

  /**
   * Whether the detections are sufficient evidence for an object. Low scores suffice only if
   * the object has moved, because false positives do not move, and if the detector reports
   * the latest detection.
   */
  get isReliable(): boolean {
    if (this.#highScoreDetections >= MIN_HIGH_SCORE_DETECTIONS) return true
    return this.#isReported && this.#totalScore >= MIN_TOTAL_SCORE && this.#hasMoved
  }

  get predictedBox(): BBox {
    this.#predictedBox ??= this.#kalman.bbox
    return this.#predictedBox
  }

  /** Advances the prediction to a frame that is this much later than the previous one. */
  predict(seconds: number): void {
    this.#predictedBox = undefined
    this.#kalman.predict(seconds)
  }

  /**
   * Continues the track with a detection. An object with a low score is often partly occluded. Its
   * detected box therefore has less weight, and the object gets the smoothed box instead.
   */
  update(detection: Detection): void {
    const hasHighScore = detection.confidence === 'high'
    this.framesSinceUpdate = 0
    this.#kalman.update(detection.bbox, hasHighScore ? 1 : LOW_SCORE_NOISE_SCALE)
    this.#predictedBox = undefined

    const bbox = hasHighScore ? detection.bbox : this.predictedBox
    this.#object = this.#addDetection({ ...detection, bbox })
  }

  /** Moves the object to its predicted box in a frame whose detections are not sampled. */
  extrapolate(): void {
    this.#object = { ...this.#object, bbox: this.predictedBox }
    this.#extendTrail(this.#object.bbox)
  }

  /** Returns the object with its track id and, unless trails are disabled, its trail. */
  toObject(): DetectedObject {
    const object = { ...this.#object, track: this.id }
    if (this.#maxTrailLength === 0) return object
    return { ...object, attributes: { ...object.attributes, trail: [...this.#trail] } }
  }

  /** Whether the center has moved by more than half of the first box's size along either axis. */
  get #hasMoved(): boolean {
    const { w, h } = this.#firstBox
    const start = getCenter(this.#firstBox)
    const current = getCenter(this.predictedBox)
    return Math.abs(current.x - start.x) > w / 2 || Math.abs(current.y - start.y) > h / 2
  }

  /**
   * Adds a detection to the evidence and the trail. Returns the detection with the class of the
   * track.
   */
  #addDetection(detection: Detection): DetectedObject {
    const { confidence, ...object } = detection
    this.#totalScore += object.score
    if (confidence === 'high') this.#highScoreDetections += 1
    this.#isReported = confidence !== 'low'
    this.#extendTrail(object.bbox)
    return { ...object, class: this.#classVote.add(detection) }
  }

  /** Appends the middle of the box's lower edge, where the object touches the ground. */
  #extendTrail(bbox: BBox): void {
    const { x, y, w, h } = clipToPicture(bbox)
    this.#trail.push({ x: roundPosition(x + w / 2), y: roundPosition(y + h) })
    if (this.#trail.length > this.#maxTrailLength) this.#trail.shift()
  }
}

function getCenter({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h / 2 }
}

function roundPosition(position: number): number {
  return Math.round(position * TRAIL_STEPS_PER_PICTURE) / TRAIL_STEPS_PER_PICTURE
}
