import { type BBox, type DetectedObject, type Point, withinPicture } from '@eyrie/element'
import { ClassVote, type Followed, isStrong, MovingBox, weakDoubt } from '@eyrie/element/tracking'

/** One object that is followed. */
export class Track implements Followed {
  /** Given as soon as it is sure that there is an object. */
  number: number | undefined
  /** Analysed frames for which it has not been detected. */
  missed = 0
  readonly #history: number
  readonly #began: BBox
  #strong = 0
  #evidence = 0
  readonly #box: MovingBox
  /** Asked for many times a frame. */
  #expected: BBox | undefined
  readonly #trail: Point[] = []
  readonly #classes = new ClassVote()
  #object: DetectedObject

  constructor(first: DetectedObject, history: number) {
    this.#history = history
    this.#began = first.bbox
    this.#box = new MovingBox(first.bbox)
    this.#object = this.#take(first)
  }

  get class(): string {
    return this.#object.class
  }

  /**
   * Two strong detections are enough. What a model hardly recognises is there if it has been seen for long enough to
   * make up for that and has moved: what is taken for an object by mistake stays where it is.
   */
  get isSure(): boolean {
    return this.#strong > 1 || (this.#evidence >= 1 && this.#hasMoved)
  }

  get expected(): BBox {
    this.#expected ??= this.#box.bbox
    return this.#expected
  }

  predict(seconds: number): void {
    this.#expected = undefined
    this.#box.predict(seconds)
  }

  /** A weak detection, of something half covered, is believed less than the motion so far. */
  match(detection: DetectedObject): void {
    this.missed = 0
    const strong = isStrong(detection)
    this.#box.correct(detection.bbox, strong ? 1 : weakDoubt)
    this.#expected = undefined
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

  /** By half its size. */
  get #hasMoved(): boolean {
    const { x, y, w, h } = this.#began
    const now = this.expected
    const across = Math.abs(now.x + now.w / 2 - x - w / 2)
    const down = Math.abs(now.y + now.h / 2 - y - h / 2)
    return across > w / 2 || down > h / 2
  }

  #take(detection: DetectedObject): DetectedObject {
    this.#evidence += detection.score
    if (isStrong(detection)) this.#strong += 1
    this.#mark(detection.bbox)
    return { ...detection, class: this.#classes.take(detection) }
  }

  /** Adds the middle of the box's lower edge, where the object stands in the picture, to the trail. */
  #mark(bbox: BBox): void {
    const { x, y, w, h } = withinPicture(bbox)
    this.#trail.push({ x: round(x + w / 2), y: round(y + h) })
    if (this.#trail.length > this.#history) this.#trail.shift()
  }
}

/** To a ten-thousandth of the picture: trails are long, and sent with every frame. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
