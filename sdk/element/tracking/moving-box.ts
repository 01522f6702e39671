import type { BBox } from '@eyrie/contract/object'
import { Coordinate, type Noise } from './kalman.ts'

/** In widths of the box across, in heights down, so that the picture's shape does not matter. */
const centerNoise: Noise = { measured: 0.12, velocity: 3, acceleration: 0.5, wander: 0 }
/** A box's size has no velocity: when it shrinks fast the object is being covered, and will not vanish. */
const sizeNoise: Noise = { measured: 0.1, velocity: 0, acceleration: 0, wander: 0.3 }

/**
 * Where a box is and will be. State and noise relative to the box's size as in SORT (Bewley et al. 2016) and ByteTrack
 * (Zhang et al. 2022), per axis as in BoT-SORT (Aharon et al. 2022). With diagonal noise their one filter of eight
 * dimensions is the same as one filter for each coordinate.
 */
export class MovingBox {
  #x: Coordinate
  #y: Coordinate
  #w: Coordinate
  #h: Coordinate

  constructor({ x, y, w, h }: BBox) {
    this.#x = new Coordinate(x + w / 2, scaled(centerNoise, w))
    this.#y = new Coordinate(y + h / 2, scaled(centerNoise, h))
    this.#w = new Coordinate(w, scaled(sizeNoise, w))
    this.#h = new Coordinate(h, scaled(sizeNoise, h))
  }

  get bbox(): BBox {
    const w = this.#w.position
    const h = this.#h.position
    return { x: this.#x.position - w / 2, y: this.#y.position - h / 2, w, h }
  }

  /** Standard deviations of the middle, across and down. */
  get deviation(): { x: number; y: number } {
    return { x: this.#x.deviation, y: this.#y.deviation }
  }

  /** The same, and from now on on its own. */
  copy(): MovingBox {
    const copied = new MovingBox(this.bbox)
    copied.#x = this.#x.copy()
    copied.#y = this.#y.copy()
    copied.#w = this.#w.copy()
    copied.#h = this.#h.copy()
    return copied
  }

  predict(seconds: number): void {
    for (const coordinate of [this.#x, this.#y, this.#w, this.#h]) coordinate.predict(seconds)
  }

  /** Takes a measured box whose deviation is `doubt` times the usual one. */
  correct({ x, y, w, h }: BBox, doubt = 1): void {
    this.#x.correct(x + w / 2, doubt)
    this.#y.correct(y + h / 2, doubt)
    this.#w.correct(w, doubt)
    this.#h.correct(h, doubt)
  }
}

function scaled(noise: Noise, size: number): Noise {
  const { measured, velocity, acceleration, wander } = noise
  // A box without extent still has an uncertain place.
  const unit = Math.max(size, 1e-3)
  return {
    measured: measured * unit,
    velocity: velocity * unit,
    acceleration: acceleration * unit,
    wander: wander * unit,
  }
}
