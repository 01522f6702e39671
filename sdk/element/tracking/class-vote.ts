import type { DetectedObject } from '@eyrie/contract/object'

/** Says of what class a track is: a model may call one object now a car, now a truck. */
export class ClassVote {
  readonly #scores = new Map<string, number>()

  /** Takes one detection's vote; gives the class that has the greatest total score. */
  take({ class: label, score }: DetectedObject): string {
    this.#scores.set(label, (this.#scores.get(label) ?? 0) + score)
    const [likeliest] = [...this.#scores].reduce((best, other) => (other[1] > best[1] ? other : best))
    return likeliest
  }
}
