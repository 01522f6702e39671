import type { DetectedObject } from '@eyrie/contract/object'

/** Says of what class a track is: a model may call one object now a car, now a truck. */
export class ClassVote {
  readonly #scores = new Map<string, number>()
  #likeliest = ''
  #most = -1

  /** Takes one detection's vote; gives the class that has the greatest total score. */
  take({ class: label, score }: DetectedObject): string {
    const total = (this.#scores.get(label) ?? 0) + score
    this.#scores.set(label, total)
    if (total > this.#most) {
      this.#likeliest = label
      this.#most = total
    }
    return this.#likeliest
  }
}
