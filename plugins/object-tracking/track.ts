import type { BBox, DetectedObject, Point } from '@eyrie/element'
import { MovingBox } from './moving-box.ts'

/** Detections that score at least this much may begin a track; weaker ones only continue one. */
export const strongScore = 0.4
/** How much farther off the box of a weak detection is (after the NSA filter of StrongSORT, Du et al. 2023). */
const weakDoubt = 3

/** One object that is followed. */
export class Track {
  /** Given when a second strong detection confirms the first. */
  number: number | undefined
  /** Analysed frames for which it has not been detected. */
  missed = 0
  readonly #history: number
  readonly #box: MovingBox
  readonly #trail: Point[] = []
  /** Total score by class: a model may call one object now a car, now a truck. */
  readonly #scores = new Map<string, number>()
  #object: DetectedObject

  constructor(first: DetectedObject, history: number) {
    this.#history = history
    this.#box = new MovingBox(first.bbox)
    this.#object = this.#take(first)
  }

  get class(): string {
    return this.#object.class
  }

  /** Where it should be by now. */
  get expected(): BBox {
    return this.#box.bbox
  }

  predict(seconds: number): void {
    this.#box.predict(seconds)
  }

  /** Goes on with a detection. A weak one, of something half covered, is believed less than the motion so far. */
  match(detection: DetectedObject): void {
    this.missed = 0
    const isWeak = detection.score < strongScore
    this.#box.correct(detection.bbox, isWeak ? weakDoubt : 1)
    this.#object = this.#take(isWeak ? { ...detection, bbox: this.expected } : detection)
  }

  /** Takes the expected place for the real one, in a frame without detections. */
  assume(): void {
    this.#object = { ...this.#object, bbox: this.expected }
    this.#mark(this.#object.bbox)
  }

  toObject(): DetectedObject {
    const attributes = { ...this.#object.attributes, trail: [...this.#trail] }
    return { ...this.#object, track: this.number, ...(this.#history > 0 && { attributes }) }
  }

  /** The detection, under the class that has the greatest total score. */
  #take(detection: DetectedObject): DetectedObject {
    this.#mark(detection.bbox)
    this.#scores.set(detection.class, (this.#scores.get(detection.class) ?? 0) + detection.score)
    const [likeliest] = [...this.#scores].reduce((best, other) => (other[1] > best[1] ? other : best))
    return { ...detection, class: likeliest }
  }

  /** Adds the middle of the box's lower edge, where the object stands, to the trail. */
  #mark({ x, y, w, h }: BBox): void {
    this.#trail.push({ x: round(x + w / 2), y: round(y + h) })
    if (this.#trail.length > this.#history) this.#trail.shift()
  }
}

/** To a ten-thousandth of the picture: trails are long, and sent with every frame. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
