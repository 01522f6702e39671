/**
 * Measures the time between two consecutive pictures of a stream, whose frame rate
 * is often not declared.
 */
export interface PictureDistance {
  /**
   * `runningTicks` is the running time of the picture, in 90 kHz ticks. Pictures may be
   * added in decoding order.
   */
  addPicture(runningTicks: number): void
  /** Returns the distance in 90 kHz ticks; undefined before the second picture. */
  ticks(): number | undefined
}

/** Number of recent distances to consider. */
const MAX_DISTANCES = 32
/**
 * The result is the distance below which this share of the recent distances lies. In decoding
 * order, at least a quarter of the distances are between consecutive pictures; the other distances
 * are multiples. A few distances may be too short after a network problem.
 */
const SHORT_SHARE = 0.15

export function createPictureDistance(): PictureDistance {
  let lastTicks: number | undefined
  let distances: number[] = []
  return {
    addPicture(runningTicks) {
      const distance = lastTicks === undefined ? 0 : Math.abs(runningTicks - lastTicks)
      lastTicks = runningTicks
      if (distance > 0) distances = [...distances, distance].slice(-MAX_DISTANCES)
    },
    ticks() {
      const sorted = distances.toSorted((a, b) => a - b)
      return sorted[Math.floor(sorted.length * SHORT_SHARE)]
    },
  }
}
