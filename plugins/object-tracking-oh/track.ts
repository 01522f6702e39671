import type { BBox, DetectedObject } from '@eyrie/element'
import { ClassVote, type Followed, isStrong, MovingBox, weakDoubt } from '@eyrie/element/tracking'
import { completed, type Sight } from './occlusion.ts'
import { Path, type PathOptions } from './path.ts'

/** Observations between which the direction of a track is taken, as in OC-SORT. */
const STEPS_OF_DIRECTION = 3

/** One object that is followed, also while it is hidden. */
export class Track implements Followed {
  /** Given when it is shown for the first time. */
  number: number | undefined
  /** Strong detections so far. */
  hits = 1
  /** Analysed frames for which it has not been detected. */
  missed = 0
  /** What should be seen of it in this frame, behind those who are nearer. */
  sight: Sight
  #box: MovingBox
  /** The filter as it was at the last observation, and the seconds of each frame since. */
  #observed: MovingBox
  #away: number[] = []
  readonly #observations: BBox[]
  readonly #path: Path
  readonly #classes = new ClassVote()
  #object: DetectedObject

  constructor(first: DetectedObject, path: PathOptions) {
    this.#box = new MovingBox(first.bbox)
    this.#observed = this.#box.copy()
    this.#observations = [first.bbox]
    this.#path = new Path(path)
    this.#path.add(first.bbox)
    this.#object = { ...first, class: this.#classes.take(first) }
    this.sight = { share: 1, bbox: first.bbox }
  }

  get class(): string {
    return this.#object.class
  }

  get expected(): BBox {
    return this.#box.bbox
  }

  /** How far from the expected middle it may well be: a standard deviation, across and down. */
  get deviation(): { x: number; y: number } {
    return this.#box.deviation
  }

  /** Where it was when it was detected last. */
  get lastSeen(): BBox {
    return this.#observations.at(-1)!
  }

  /** Where it was some observations before that. */
  get seenBefore(): BBox {
    return this.#observations[0]!
  }

  predict(seconds: number): void {
    this.#box.predict(seconds)
    this.#away.push(seconds)
  }

  match(detection: DetectedObject): void {
    const bbox = completed(detection.bbox, this.expected, this.sight.bbox)
    const strong = isStrong(detection)
    const doubt = strong ? 1 : weakDoubt
    this.#bridge(bbox, doubt)
    this.#box.correct(bbox, doubt)
    this.#observed = this.#box.copy()
    this.#away = []
    this.#observations.push(bbox)
    if (this.#observations.length > STEPS_OF_DIRECTION + 1) this.#observations.shift()
    this.#path.add(bbox)
    this.#object = { ...detection, bbox, class: this.#classes.take(detection) }
    if (strong) this.hits += 1
    this.missed = 0
  }

  toObject(): DetectedObject {
    const trail = this.#path.points
    const attributes = { ...this.#object.attributes, trail }
    return { ...this.#object, track: this.number, ...(trail.length > 0 && { attributes }) }
  }

  /**
   * Takes back what was predicted while it was out of sight and leads the filter, and the path, along the straight way
   * from the last observation to this one, frame by frame (OC-SORT's observation-centric re-update).
   */
  #bridge(bbox: BBox, doubt: number): void {
    const last = this.#away.at(-1)
    if (last === undefined || this.#away.length === 1) return
    const total = this.#away.reduce((sum, seconds) => sum + seconds, 0)
    const from = this.lastSeen
    let passed = 0
    this.#box = this.#observed.copy()
    for (const seconds of this.#away.slice(0, -1)) {
      passed += seconds
      const between = interpolated(from, bbox, passed / total)
      this.#box.predict(seconds)
      this.#box.correct(between, doubt)
      this.#path.add(between)
    }
    this.#box.predict(last)
  }
}

function interpolated(from: BBox, to: BBox, share: number): BBox {
  const between = (side: keyof BBox) => from[side] + share * (to[side] - from[side])
  return { x: between('x'), y: between('y'), w: between('w'), h: between('h') }
}
