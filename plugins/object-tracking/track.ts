import type { BBox, DetectedObject, Point } from '@eyrie/element'
import { ClassVote, type Followed, isStrong, MovingBox, weakDoubt } from '@eyrie/element/tracking'

/** One object that is followed. */
export class Track implements Followed {
  /** Given when a second strong detection confirms the first. */
  number: number | undefined
  /** Analysed frames for which it has not been detected. */
  missed = 0
  readonly #history: number
  readonly #box: MovingBox
  readonly #trail: Point[] = []
  readonly #classes = new ClassVote()
  #object: DetectedObject

  constructor(first: DetectedObject, history: number) {
    this.#history = history
    this.#box = new MovingBox(first.bbox)
    this.#object = this.#take(first)
  }

  get class(): string {
    return this.#object.class
  }

  get expected(): BBox {
    return this.#box.bbox
  }

  predict(seconds: number): void {
    this.#box.predict(seconds)
  }

  /** A weak detection, of something half covered, is believed less than the motion so far. */
  match(detection: DetectedObject): void {
    this.missed = 0
    const strong = isStrong(detection)
    this.#box.correct(detection.bbox, strong ? 1 : weakDoubt)
    this.#object = this.#take(strong ? detection : { ...detection, bbox: this.expected })
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

  #take(detection: DetectedObject): DetectedObject {
    this.#mark(detection.bbox)
    return { ...detection, class: this.#classes.take(detection) }
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
