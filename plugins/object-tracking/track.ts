import { type BBox, clipToPicture, type DetectedObject, type Point } from '@eyrie/element'
import {
  type AssociableTrack,
  ClassVote,
  isHighScore,
  KalmanBox,
  LOW_SCORE_NOISE_SCALE,
} from '@eyrie/element/tracking'

/** A tracked object. Tentative until the tracker assigns an id, confirmed from then on. */
export class Track implements AssociableTrack {
  /** Assigned when the track is confirmed. */
  id: number | undefined
  /** Analysed frames since the last associated detection. */
  framesSinceUpdate = 0
  readonly #maxTrailLength: number
  readonly #firstBox: BBox
  #highScoreHits = 0
  #totalScore = 0
  readonly #kalman: KalmanBox
  /** Cached: read many times per frame. */
  #predictedBox: BBox | undefined
  readonly #trail: Point[] = []
  readonly #classVote = new ClassVote()
  #object: DetectedObject

  constructor(first: DetectedObject, maxTrailLength: number) {
    this.#maxTrailLength = maxTrailLength
    this.#firstBox = first.bbox
    this.#kalman = new KalmanBox(first.bbox)
    this.#object = this.#record(first)
  }

  get class(): string {
    return this.#object.class
  }

  /**
   * Whether the detections so far are sufficient evidence for an object. Two high-score detections are. Low-score
   * detections are if their scores add up to 1 and the object has moved: false positives do not move.
   */
  get isReliable(): boolean {
    return this.#highScoreHits > 1 || (this.#totalScore >= 1 && this.#hasMoved)
  }

  get predictedBox(): BBox {
    this.#predictedBox ??= this.#kalman.bbox
    return this.#predictedBox
  }

  predict(seconds: number): void {
    this.#predictedBox = undefined
    this.#kalman.predict(seconds)
  }

  /** Low-score detections are often partly occluded: their boxes weigh less and are replaced by the filtered box. */
  update(detection: DetectedObject): void {
    this.framesSinceUpdate = 0
    const highScore = isHighScore(detection)
    this.#kalman.update(detection.bbox, highScore ? 1 : LOW_SCORE_NOISE_SCALE)
    this.#predictedBox = undefined
    this.#object = this.#record(highScore ? detection : { ...detection, bbox: this.predictedBox })
  }

  /** Moves the object to its predicted box in a frame whose detections are not sampled. */
  extrapolate(): void {
    this.#object = { ...this.#object, bbox: this.predictedBox }
    this.#extendTrail(this.#object.bbox)
  }

  toObject(): DetectedObject {
    const attributes = { ...this.#object.attributes, trail: [...this.#trail] }
    return { ...this.#object, track: this.id, ...(this.#maxTrailLength > 0 && { attributes }) }
  }

  /** Whether the center has moved by more than half of the first box's size along either axis. */
  get #hasMoved(): boolean {
    const { x, y, w, h } = this.#firstBox
    const now = this.predictedBox
    const distanceX = Math.abs(now.x + now.w / 2 - x - w / 2)
    const distanceY = Math.abs(now.y + now.h / 2 - y - h / 2)
    return distanceX > w / 2 || distanceY > h / 2
  }

  #record(detection: DetectedObject): DetectedObject {
    this.#totalScore += detection.score
    if (isHighScore(detection)) this.#highScoreHits += 1
    this.#extendTrail(detection.bbox)
    return { ...detection, class: this.#classVote.add(detection) }
  }

  /** Appends the middle of the box's lower edge, where the object touches the ground. */
  #extendTrail(bbox: BBox): void {
    const { x, y, w, h } = clipToPicture(bbox)
    this.#trail.push({ x: round(x + w / 2), y: round(y + h) })
    if (this.#trail.length > this.#maxTrailLength) this.#trail.shift()
  }
}

/** Rounds to 1e-4 of the picture: trails are long and sent with every frame. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
