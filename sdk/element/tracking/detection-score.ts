import type { DetectedObject } from '@eyrie/contract/object'

/** Detections with at least this score are regarded as certain. */
const HIGH_SCORE = 0.4

/**
 * Measurement noise of a low-score detection, relative to a high-score one (after NSA Kalman, StrongSORT, Du et al.
 * 2023).
 */
export const LOW_SCORE_NOISE_SCALE = 3

/** Whether a detection may start a track. Low-score detections only continue tracks (ByteTrack, Zhang et al. 2022). */
export function isHighScore({ score }: DetectedObject): boolean {
  return score >= HIGH_SCORE
}

/** Determines the class of a track whose detections alternate between classes, e.g. car and truck. */
export class ClassVote {
  readonly #totals = new Map<string, number>()
  #winner = ''
  #maxTotal = -1

  /** Adds a detection's score to the total of its class. Returns the class with the greatest total. */
  add({ class: label, score }: DetectedObject): string {
    const total = (this.#totals.get(label) ?? 0) + score
    this.#totals.set(label, total)
    if (total > this.#maxTotal) {
      this.#winner = label
      this.#maxTotal = total
    }
    return this.#winner
  }
}
