/** Standard deviations of a coordinate, in its unit. */
export interface Noise {
  /** Of a measurement. */
  readonly measured: number
  /** Of the velocity at first, per second. */
  readonly velocity: number
  /** By which the velocity changes within a second. */
  readonly acceleration: number
  /** By which the position wanders within a second, whatever its velocity. */
  readonly wander: number
}

/**
 * A Kalman filter over one coordinate that moves with constant velocity but for white noise (Bar-Shalom, Li and
 * Kirubarajan 2001, "Estimation with Applications to Tracking and Navigation", section 6.2.2). Its noise grows with time,
 * not with frames: two short predictions are the same as one long one, so dropped frames change nothing.
 */
export class Coordinate {
  readonly #noise: Noise
  #position: number
  #velocity = 0
  #variance: number
  #covariance = 0
  #velocityVariance: number

  constructor(measured: number, noise: Noise) {
    this.#noise = noise
    this.#position = measured
    this.#variance = noise.measured ** 2
    this.#velocityVariance = noise.velocity ** 2
  }

  get position(): number {
    return this.#position
  }

  get velocity(): number {
    return this.#velocity
  }

  /** Standard deviation of the position. */
  get deviation(): number {
    return Math.sqrt(this.#variance)
  }

  /** The same, and from now on on its own. */
  copy(): Coordinate {
    const copied = new Coordinate(this.#position, this.#noise)
    copied.#velocity = this.#velocity
    copied.#variance = this.#variance
    copied.#covariance = this.#covariance
    copied.#velocityVariance = this.#velocityVariance
    return copied
  }

  predict(seconds: number): void {
    const acceleration = this.#noise.acceleration ** 2
    const wander = this.#noise.wander ** 2
    this.#position += this.#velocity * seconds
    this.#variance +=
      2 * seconds * this.#covariance +
      seconds ** 2 * this.#velocityVariance +
      (acceleration * seconds ** 3) / 3 +
      wander * seconds
    this.#covariance += seconds * this.#velocityVariance + (acceleration * seconds ** 2) / 2
    this.#velocityVariance += acceleration * seconds
  }

  /** Takes a measurement whose deviation is `doubt` times the usual one. */
  correct(measured: number, doubt = 1): void {
    const innovation = measured - this.#position
    const variance = this.#variance + (doubt * this.#noise.measured) ** 2
    const gain = this.#variance / variance
    const velocityGain = this.#covariance / variance
    this.#position += gain * innovation
    this.#velocity += velocityGain * innovation
    this.#velocityVariance -= velocityGain * this.#covariance
    this.#covariance *= 1 - gain
    this.#variance *= 1 - gain
  }
}
