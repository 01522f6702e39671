/**
 * Noise of a Kalman filter, which estimates a position and its velocity from inexact measurements.
 * All values are standard deviations in the unit of the coordinate.
 */
export interface KalmanNoise {
  /** Noise of a measurement. */
  readonly measurement: number
  /** Uncertainty of the velocity before the second measurement, per second. */
  readonly initialVelocity: number
  /** Change of the velocity within one second (white-noise acceleration). */
  readonly acceleration: number
  /** Change of the position within one second that is not due to the velocity (random walk). */
  readonly randomWalk: number
}

/**
 * Kalman filter for one coordinate with a constant-velocity model and continuous white-noise
 * acceleration (Bar-Shalom, Li and Kirubarajan 2001, "Estimation with Applications to Tracking and
 * Navigation", section 6.2.2).
 *
 * Process noise grows with time, not with frames: predicting twice over short intervals equals
 * predicting once over their sum, so dropped frames do not affect the result.
 */
export class KalmanFilter {
  readonly #noise: KalmanNoise
  #position: number
  #velocity = 0
  #variance: number
  #covariance = 0
  #velocityVariance: number

  /** Initialises the position with the first measurement; the velocity is 0. */
  constructor(measurement: number, noise: KalmanNoise) {
    this.#noise = noise
    this.#position = measurement
    this.#variance = noise.measurement ** 2
    this.#velocityVariance = noise.initialVelocity ** 2
  }

  get position(): number {
    return this.#position
  }

  /** Velocity per second. */
  get velocity(): number {
    return this.#velocity
  }

  /** Standard deviation of the position. */
  get standardDeviation(): number {
    return Math.sqrt(this.#variance)
  }

  /** Returns an independent copy. */
  clone(): KalmanFilter {
    const clone = new KalmanFilter(this.#position, this.#noise)
    clone.#velocity = this.#velocity
    clone.#variance = this.#variance
    clone.#covariance = this.#covariance
    clone.#velocityVariance = this.#velocityVariance
    return clone
  }

  /** Advances the state by a time interval. */
  predict(seconds: number): void {
    const acceleration = this.#noise.acceleration ** 2
    const randomWalk = this.#noise.randomWalk ** 2
    this.#position += this.#velocity * seconds
    this.#variance +=
      2 * seconds * this.#covariance +
      seconds ** 2 * this.#velocityVariance +
      (acceleration * seconds ** 3) / 3 +
      randomWalk * seconds
    this.#covariance += seconds * this.#velocityVariance + (acceleration * seconds ** 2) / 2
    this.#velocityVariance += acceleration * seconds
  }

  /**
   * Corrects the state with a measurement; `noiseScale` multiplies the measurement's standard
   * deviation.
   */
  update(measurement: number, noiseScale = 1): void {
    const innovation = measurement - this.#position
    const innovationVariance = this.#variance + (noiseScale * this.#noise.measurement) ** 2
    const gain = this.#variance / innovationVariance
    const velocityGain = this.#covariance / innovationVariance
    this.#position += gain * innovation
    this.#velocity += velocityGain * innovation
    this.#velocityVariance -= velocityGain * this.#covariance
    this.#covariance *= 1 - gain
    this.#variance *= 1 - gain
  }
}
