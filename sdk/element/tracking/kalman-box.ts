import type { BBox } from '@eyrie/contract/object'
import { KalmanFilter, type KalmanNoise } from './kalman-filter.ts'

/**
 * Noise of the center in box widths and box heights, so that the aspect ratio of the
 * picture does not matter.
 */
const CENTER_NOISE: KalmanNoise = {
  measurement: 0.12,
  initialVelocity: 3,
  acceleration: 0.5,
  randomWalk: 0,
}
/**
 * Noise of the size. The size has no velocity: a box that shrinks fast is being occluded and will
 * not shrink to nothing.
 */
const SIZE_NOISE: KalmanNoise = {
  measurement: 0.1,
  initialVelocity: 0,
  acceleration: 0,
  randomWalk: 0.3,
}
/** Minimum size, as a share of the picture, to which noise is relative. */
const MIN_UNIT = 1e-3

/**
 * Predicts the box of a moving object with a Kalman filter per coordinate: center x, center
 * y, width and height.
 *
 * Noise is relative to the box's size as in SORT (Bewley et al. 2016) and ByteTrack (Zhang et al.
 * 2022), and per axis as in BoT-SORT (Aharon et al. 2022). Their 8-dimensional filter has diagonal
 * noise, so four independent filters are equivalent to it.
 */
export class KalmanBox {
  #x: KalmanFilter
  #y: KalmanFilter
  #w: KalmanFilter
  #h: KalmanFilter

  constructor({ x, y, w, h }: BBox) {
    this.#x = new KalmanFilter(x + w / 2, scaleNoise(CENTER_NOISE, w))
    this.#y = new KalmanFilter(y + h / 2, scaleNoise(CENTER_NOISE, h))
    this.#w = new KalmanFilter(w, scaleNoise(SIZE_NOISE, w))
    this.#h = new KalmanFilter(h, scaleNoise(SIZE_NOISE, h))
  }

  /** The current estimate. */
  get bbox(): BBox {
    const w = this.#w.position
    const h = this.#h.position
    return { x: this.#x.position - w / 2, y: this.#y.position - h / 2, w, h }
  }

  /** Standard deviation of the center along each axis. */
  get centerDeviation(): { x: number; y: number } {
    return { x: this.#x.standardDeviation, y: this.#y.standardDeviation }
  }

  /** Returns an independent copy. */
  clone(): KalmanBox {
    const clone = new KalmanBox(this.bbox)
    clone.#x = this.#x.clone()
    clone.#y = this.#y.clone()
    clone.#w = this.#w.clone()
    clone.#h = this.#h.clone()
    return clone
  }

  /** Advances the estimate by a time interval. */
  predict(seconds: number): void {
    for (const filter of [this.#x, this.#y, this.#w, this.#h]) filter.predict(seconds)
  }

  /**
   * Corrects the estimate with a measured box; `noiseScale` multiplies the
   * measurement's standard deviation.
   */
  update({ x, y, w, h }: BBox, noiseScale = 1): void {
    this.#x.update(x + w / 2, noiseScale)
    this.#y.update(y + h / 2, noiseScale)
    this.#w.update(w, noiseScale)
    this.#h.update(h, noiseScale)
  }
}

function scaleNoise(noise: KalmanNoise, size: number): KalmanNoise {
  const { measurement, initialVelocity, acceleration, randomWalk } = noise
  // Without this minimum, a box without extent would have no noise at all.
  const unit = Math.max(size, MIN_UNIT)
  return {
    measurement: measurement * unit,
    initialVelocity: initialVelocity * unit,
    acceleration: acceleration * unit,
    randomWalk: randomWalk * unit,
  }
}
