import type { DetectedObject } from '@eyrie/contract/object'

/** Detections with at least this score are regarded as certain. */
const HIGH_SCORE = 0.4

/**
 * Measurement noise of a low-score detection, relative to a high-score one (after NSA Kalman,
 * StrongSORT, Du et al. 2023).
 */
export const LOW_SCORE_NOISE_SCALE = 3
const RANKS: Record<Confidence, number> = { low: 0, medium: 1, high: 2 }

/**
 * How far a detection is evidence of an object. `high`: two of them are sufficient. `medium`: its
 * score is low, but high enough for the detector to report it. `low`: the detector does not report
 * it, so it only supports other evidence.
 */
export type Confidence = 'high' | 'medium' | 'low'

/** A detection as trackers use it. */
export interface Detection extends DetectedObject {
  readonly confidence: Confidence
}

/**
 * Whether the score of a detection is high enough to start a track (`track_thresh` of
 * ByteTrack, Zhang et al. 2022).
 */
export function isHighScore({ score }: DetectedObject): boolean {
  return score >= HIGH_SCORE
}

/**
 * Returns the objects and the low-score objects of a frame with their confidence, in this order.
 */
export function rateDetections({
  objects,
  lowScoreObjects,
}: {
  readonly objects: readonly DetectedObject[]
  readonly lowScoreObjects: readonly DetectedObject[]
}): Detection[] {
  return [
    ...objects.map(object => rate(object, isHighScore(object) ? 'high' : 'medium')),
    ...lowScoreObjects.map(object => rate(object, 'low')),
  ]
}

const rate = (object: DetectedObject, confidence: Confidence): Detection => ({
  ...object,
  confidence,
})

/**
 * Determines the class of a track whose detections alternate between classes, e.g. car and truck.
 * Only the detections with the highest confidence so far have a vote.
 */
export class ClassVote {
  readonly #totals = new Map<string, number>()
  #rank = RANKS.low
  #winner = ''
  #maxTotal = -1

  /**
   * Adds a detection's score to the total of its class. Returns the class with the greatest total.
   */
  add({ class: label, score, confidence }: Detection): string {
    const rank = RANKS[confidence]
    if (rank < this.#rank) return this.#winner
    if (rank > this.#rank) this.#restart(rank)

    const total = (this.#totals.get(label) ?? 0) + score
    this.#totals.set(label, total)
    if (total > this.#maxTotal) {
      this.#winner = label
      this.#maxTotal = total
    }
    return this.#winner
  }

  #restart(rank: number): void {
    this.#rank = rank
    this.#totals.clear()
    this.#maxTotal = -1
  }
}
