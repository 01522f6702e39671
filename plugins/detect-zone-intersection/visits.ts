import { type Counter, type DetectedObject, type EventData, TICKS_PER_SECOND } from '@eyrie/element'

/** Inside from this share of the object's part on. */
const insideShare = 0.5
/** For how long a visitor may be covered, or hover at the edge, before the visit is taken as ended. */
const graceTicks = 2 * TICKS_PER_SECOND

interface Visit {
  visitor: DetectedObject
  /** pts of the first and of the last frame inside, and of the first one after it in which it was seen outside. */
  entered: number
  inside: number
  outside?: number
}

/** The visits of objects to one zone. */
export class Visits {
  readonly #zone: string
  readonly #open = new Map<number, Visit>()
  #untracked = 0
  #total = 0
  #ended = 0
  #dwellSeconds = 0

  constructor(zone: string) {
    this.#zone = zone
  }

  /** Begins a frame and ends the visits of those who have not been inside for a while; after a break, all. */
  begin(pts: number, discontinuity: boolean): EventData[] {
    this.#untracked = 0
    return [...this.#open]
      .filter(([, { inside }]) => discontinuity || pts - inside > graceTicks)
      .map(([track]) => this.#end(track))
  }

  /** Takes notice of an object of which `share` is in the zone: whether it counts as inside, and what happened. */
  see(object: DetectedObject, share: number, pts: number): { inside: boolean; event?: EventData } {
    const { track } = object
    if (track === undefined) {
      const inside = share >= insideShare
      if (inside) this.#untracked += 1
      return { inside }
    }
    const visit = this.#open.get(track)
    if (!visit) return share >= insideShare ? this.#enter(track, object, pts) : { inside: false }
    visit.visitor = object
    if (share >= insideShare) {
      visit.inside = pts
      visit.outside = undefined
      return { inside: true }
    }
    visit.outside ??= pts
    return share > 0 ? { inside: true } : { inside: false, event: this.#end(track) }
  }

  counter(): Counter {
    return {
      occupancy: this.#open.size + this.#untracked,
      total: this.#total,
      dwell_time: this.#ended === 0 ? 0 : roundToMs(this.#dwellSeconds / this.#ended),
    }
  }

  #enter(track: number, visitor: DetectedObject, pts: number) {
    this.#open.set(track, { visitor, entered: pts, inside: pts })
    this.#total += 1
    return { inside: true, event: this.#event('zone-enter', visitor) }
  }

  #end(track: number): EventData {
    const { visitor, entered, inside, outside = inside } = this.#open.get(track)!
    const seconds = (outside - entered) / TICKS_PER_SECOND
    this.#open.delete(track)
    this.#ended += 1
    this.#dwellSeconds += seconds
    return { ...this.#event('zone-exit', visitor), dwell_time: roundToMs(seconds) }
  }

  #event(type: string, { track, class: label, bbox }: DetectedObject): EventData {
    return { type, name: this.#zone, track, class: label, bbox }
  }
}

function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
