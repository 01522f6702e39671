import { TICKS_PER_SECOND } from '@eyrie/element'

/** Who has come too near goes on to be until so much farther away, as a share of the threshold. */
const margin = 0.1
/** For how long two must have kept their distance, or one of them been out of sight, before they do. */
const graceTicks = TICKS_PER_SECOND
/** When a track that is not seen any more has ended: trackers find again whom they have lost. */
const endTicks = 10 * TICKS_PER_SECOND

interface Pair {
  /** pts of the last frame in which they were too near. */
  near: number
}

interface Visitor {
  seen: number
  violated: boolean
}

/** Which tracks keep their distance to each other. */
export class Distancing {
  readonly #threshold: number
  /** By `pairKey`; those who keep their distance are not in here. */
  readonly #pairs = new Map<string, Pair>()
  readonly #visitors = new Map<number, Visitor>()
  #violation = 0
  #nonViolation = 0

  /** @param threshold in metres. */
  constructor(threshold: number) {
    this.#threshold = threshold
  }

  /** Begins a frame with these tracks in it; after a break, those before have ended. */
  begin(tracks: readonly number[], pts: number, discontinuity: boolean): void {
    for (const [key, { near }] of this.#pairs)
      if (discontinuity || pts - near > graceTicks) this.#pairs.delete(key)
    for (const [track, { seen, violated }] of this.#visitors) {
      if (!discontinuity && pts - seen <= endTicks) continue
      this.#visitors.delete(track)
      if (!violated) this.#nonViolation += 1
    }
    for (const track of tracks) {
      const visitor = this.#visitors.get(track)
      if (visitor) visitor.seen = pts
      else this.#visitors.set(track, { seen: pts, violated: false })
    }
  }

  /** Takes notice of how far two tracks are apart, in metres: whether they are too near, and whether that is new. */
  see(a: number, b: number, metres: number, pts: number): { violates: boolean; began: boolean } {
    const key = pairKey(a, b)
    const pair = this.#pairs.get(key)
    if (pair) {
      if (metres < this.#threshold * (1 + margin)) pair.near = pts
      return { violates: true, began: false }
    }
    if (metres >= this.#threshold) return { violates: false, began: false }
    this.#pairs.set(key, { near: pts })
    for (const track of [a, b]) this.#violate(track)
    return { violates: true, began: true }
  }

  /** Tracks that began to violate, each once, and tracks that ended without. */
  counter(): { violation: number; non_violation: number } {
    return { violation: this.#violation, non_violation: this.#nonViolation }
  }

  #violate(track: number): void {
    const visitor = this.#visitors.get(track)!
    if (!visitor.violated) this.#violation += 1
    visitor.violated = true
  }
}

function pairKey(a: number, b: number): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}
