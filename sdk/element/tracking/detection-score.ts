import type { DetectedObject } from '@eyrie/contract/object'

/** How trackers use the score of a detection. */

/** Detections with at least this score are regarded as certain. */
const HIGH_SCORE = 0.4

/**
 * Measurement noise of a low-score detection, relative to a high-score one (after NSA Kalman,
 * StrongSORT, Du et al. 2023).
 */
export const LOW_SCORE_NOISE_SCALE = 3

/**
 * How strongly a detection indicates that there is an object:
 * - `high`: two such detections are sufficient to confirm a track.
 * - `medium`: the detector reports the detection, but its score is lower.
 * - `low`: the detection is one of the `lowScoreObjects`. It only supports other evidence.
 */
export type Confidence = 'high' | 'medium' | 'low'

/** The order of confidences, the lowest first. */
const CONFIDENCE_RANKS: Record<Confidence, number> = { low: 0, medium: 1, high: 2 }

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
 * Returns the detections of a frame with their confidence: first the objects, then the low-score
 * objects.
 */
export function rateDetections({
  objects,
  lowScoreObjects,
}: {
  readonly objects: readonly DetectedObject[]
  readonly lowScoreObjects: readonly DetectedObject[]
}): Detection[] {
  return [
    ...objects.map(object => withConfidence(object, isHighScore(object) ? 'high' : 'medium')),
    ...lowScoreObjects.map(object => withConfidence(object, 'low')),
  ]
}

const withConfidence = (object: DetectedObject, confidence: Confidence): Detection => ({
  ...object,
  confidence,
})

/**
 * Determines the class of a track whose detections alternate between classes, such as car and
 * truck. The detections vote with their scores. Only those with the highest confidence so far
 * count: the first detection with a higher confidence deletes all earlier votes.
 */
export class ClassVote {
  /** Sum of the scores of the counted detections, by class. */
  readonly #totals = new Map<string, number>()
  /** Rank of the confidence of the counted detections. */
  #rank = CONFIDENCE_RANKS.low
  #winner = ''
  #winnerTotal = -1

  /**
   * Adds a detection's score to the total of its class. Returns the class with the greatest total.
   */
  add({ class: label, score, confidence }: Detection): string {
    const rank = CONFIDENCE_RANKS[confidence]
    if (rank < this.#rank) return this.#winner
    if (rank > this.#rank) this.#deleteVotes(rank)

    const total = (this.#totals.get(label) ?? 0) + score
    this.#totals.set(label, total)
    if (total > this.#winnerTotal) {
      this.#winner = label
      this.#winnerTotal = total
    }
    return this.#winner
  }

  /** Deletes all votes, because from now on only detections of a higher rank count. */
  #deleteVotes(newRank: number): void {
    this.#rank = newRank
    this.#totals.clear()
    this.#winnerTotal = -1
  }
}
