import { type Counter, type DetectedObject, type EventData, TICKS_PER_SECOND } from '@eyrie/element'

/** An object is inside if at least this share of its region is inside the zone. */
const MIN_INSIDE_SHARE = 0.5
/** A visit continues while the object is occluded or at the edge of the zone for at most this long. */
const GRACE_TICKS = 2 * TICKS_PER_SECOND

/** The stay of a tracked object in a zone. Times are presentation times (pts) of frames, in ticks of 90 kHz. */
interface Visit {
  /** The object as it was detected last. */
  visitor: DetectedObject
  enteredPts: number
  lastInsidePts: number
  /** First frame after `lastInsidePts` in which the visitor was detected outside. */
  firstOutsidePts?: number
  /** The visit is reported as too long in the first frame later than this. */
  dwellDuePts: number
}

/** Counts the visits of tracked objects to one zone and measures their duration. */
export class ZoneVisits {
  readonly #zone: string
  readonly #maxDwellTicks: number
  readonly #visits = new Map<number, Visit>()
  #untrackedInside = 0
  #total = 0
  #endedCount = 0
  #endedSeconds = 0

  /** A visit longer than `maxDwellSeconds` is reported, and again after each further such period. */
  constructor(zone: string, maxDwellSeconds = Number.POSITIVE_INFINITY) {
    this.#zone = zone
    this.#maxDwellTicks = maxDwellSeconds * TICKS_PER_SECOND
  }

  /** Starts a frame. Ends the visits that have exceeded the grace period, or all visits at a discontinuity. */
  startFrame(pts: number, discontinuity: boolean): EventData[] {
    this.#untrackedInside = 0
    return [...this.#visits]
      .filter(([, { lastInsidePts }]) => discontinuity || pts - lastInsidePts > GRACE_TICKS)
      .map(([track]) => this.#exit(track))
  }

  /**
   * Updates an object of which `share` is in the zone. Returns whether the object is inside, and the event if that has changed
   * or if the object has stayed too long.
   */
  update(
    object: DetectedObject,
    share: number,
    pts: number,
  ): { isInside: boolean; event?: EventData | undefined } {
    const isMostlyInside = share >= MIN_INSIDE_SHARE
    const { track } = object
    if (track === undefined) {
      if (isMostlyInside) this.#untrackedInside += 1
      return { isInside: isMostlyInside }
    }
    const visit = this.#visits.get(track)
    if (!visit) return isMostlyInside ? this.#enter(track, object, pts) : { isInside: false }

    visit.visitor = object
    if (isMostlyInside) {
      visit.lastInsidePts = pts
      visit.firstOutsidePts = undefined
      return { isInside: true, event: this.#reportDwell(visit, pts) }
    }

    // At the edge of the zone, the visit continues until the object has left the zone completely.
    visit.firstOutsidePts ??= pts
    return share > 0 ? { isInside: true } : { isInside: false, event: this.#exit(track) }
  }

  /** Returns the current number of visitors, the total number of visits, and the mean duration of the ended visits. */
  getCounter(): Counter {
    const meanSeconds = this.#endedCount === 0 ? 0 : this.#endedSeconds / this.#endedCount
    return {
      occupancy: this.#visits.size + this.#untrackedInside,
      total: this.#total,
      dwell_time: roundToMs(meanSeconds),
    }
  }

  #enter(track: number, visitor: DetectedObject, pts: number) {
    const dwellDuePts = pts + this.#maxDwellTicks
    this.#visits.set(track, { visitor, enteredPts: pts, lastInsidePts: pts, dwellDuePts })
    this.#total += 1
    return { isInside: true, event: this.#createEvent('zone-enter', visitor) }
  }

  #reportDwell(visit: Visit, pts: number): EventData | undefined {
    if (pts <= visit.dwellDuePts) return undefined
    const ticks = pts - visit.enteredPts
    const completedPeriods = Math.floor(ticks / this.#maxDwellTicks)
    visit.dwellDuePts = visit.enteredPts + (completedPeriods + 1) * this.#maxDwellTicks
    return { ...this.#createEvent('dwell', visit.visitor), dwell_time: roundToMs(ticks / TICKS_PER_SECOND) }
  }

  #exit(track: number): EventData {
    const { visitor, enteredPts, lastInsidePts, firstOutsidePts } = this.#visits.get(track)!
    const leftPts = firstOutsidePts ?? lastInsidePts
    const seconds = (leftPts - enteredPts) / TICKS_PER_SECOND
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
