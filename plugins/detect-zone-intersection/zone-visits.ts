import { type Counter, type DetectedObject, type EventData, TICKS_PER_SECOND } from '@eyrie/element'

/** Minimum share of the object's region inside the zone for the object to count as inside. */
const MIN_INSIDE_SHARE = 0.5
/** A visit continues while the object is occluded or hovers at the edge for at most this long. */
const GRACE_TICKS = 2 * TICKS_PER_SECOND

interface Visit {
  visitor: DetectedObject
  enteredPts: number
  lastInsidePts: number
  /** First frame after `lastInsidePts` in which the visitor was detected outside. */
  firstOutsidePts?: number
}

/** Visits of tracked objects to one zone. */
export class ZoneVisits {
  readonly #zone: string
  readonly #visits = new Map<number, Visit>()
  #untrackedInside = 0
  #total = 0
  #endedCount = 0
  #endedSeconds = 0

  constructor(zone: string) {
    this.#zone = zone
  }

  /** Starts a frame. Ends the visits that have exceeded the grace period, or all of them after a discontinuity. */
  startFrame(pts: number, discontinuity: boolean): EventData[] {
    this.#untrackedInside = 0
    return [...this.#visits]
      .filter(([, { lastInsidePts }]) => discontinuity || pts - lastInsidePts > GRACE_TICKS)
      .map(([track]) => this.#exit(track))
  }

  /**
   * Updates an object of which `share` lies in the zone. Returns whether it is inside, and the event if that changed.
   */
  update(object: DetectedObject, share: number, pts: number): { isInside: boolean; event?: EventData } {
    const { track } = object
    if (track === undefined) {
      const isInside = share >= MIN_INSIDE_SHARE
      if (isInside) this.#untrackedInside += 1
      return { isInside }
    }
    const visit = this.#visits.get(track)
    if (!visit) return share >= MIN_INSIDE_SHARE ? this.#enter(track, object, pts) : { isInside: false }
    visit.visitor = object
    if (share >= MIN_INSIDE_SHARE) {
      visit.lastInsidePts = pts
      visit.firstOutsidePts = undefined
      return { isInside: true }
    }
    visit.firstOutsidePts ??= pts
    return share > 0 ? { isInside: true } : { isInside: false, event: this.#exit(track) }
  }

  getCounter(): Counter {
    return {
      occupancy: this.#visits.size + this.#untrackedInside,
      total: this.#total,
      dwell_time: this.#endedCount === 0 ? 0 : roundToMs(this.#endedSeconds / this.#endedCount),
    }
  }

  #enter(track: number, visitor: DetectedObject, pts: number) {
    this.#visits.set(track, { visitor, enteredPts: pts, lastInsidePts: pts })
    this.#total += 1
    return { isInside: true, event: this.#createEvent('zone-enter', visitor) }
  }

  #exit(track: number): EventData {
    const { visitor, enteredPts, lastInsidePts, firstOutsidePts } = this.#visits.get(track)!
    const seconds = ((firstOutsidePts ?? lastInsidePts) - enteredPts) / TICKS_PER_SECOND
    this.#visits.delete(track)
    this.#endedCount += 1
    this.#endedSeconds += seconds
    return { ...this.#createEvent('zone-exit', visitor), dwell_time: roundToMs(seconds) }
  }

  #createEvent(type: string, { track, class: label, bbox }: DetectedObject): EventData {
    return { type, name: this.#zone, track, class: label, bbox }
  }
}

function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
