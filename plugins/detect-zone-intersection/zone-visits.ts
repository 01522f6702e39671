import {
  type BBox,
  type Counter,
  type DetectedObject,
  type EventData,
  TICKS_PER_SECOND,
} from '@eyrie/element'
import { iou } from '@eyrie/element/tracking'

/** An object is inside if at least this share of its region is inside the zone. */
const MIN_INSIDE_SHARE = 0.5
/** A visit continues for this long while the object is occluded or at the edge of the zone. */
const GRACE_TICKS = 2 * TICKS_PER_SECOND
/**
 * A parked object may be occluded for longer: for this share of the time that it has stood still.
 */
const PARKED_GRACE_SHARE = 1 / 4
/** The visit of an occluded object never continues for longer than this. */
const MAX_GRACE_TICKS = 300 * TICKS_PER_SECOND
/**
 * An object stands still while its box and the box at which it stopped have at least this IoU
 * (intersection over union).
 */
const MIN_STILL_IOU = 0.6

/**
 * The stay of a tracked object in a zone. Times are presentation times (pts) of
 * frames, in ticks of 90 kHz.
 */
interface Visit {
  /** The object as it was detected last. */
  visitor: DetectedObject
  enteredPts: number
  lastInsidePts: number
  /** The box at which the visitor stopped. */
  stillBox: BBox
  /** When the visitor stopped. */
  stillSincePts: number
  /** First frame after `lastInsidePts` in which the visitor was detected outside. */
  firstOutsidePts?: number
  /** The visit is reported as too long in the first frame after this time. */
  nextReportPts: number
}

/** Whether an object is in the zone, and the event that this update has caused. */
interface Presence {
  isInside: boolean
  event?: EventData | undefined
}

/**
 * Counts the visits of tracked objects to one zone and measures their duration.
 *
 * Call `startFrame` for each frame, then `update` for each object in it.
 */
export class ZoneVisits {
  readonly #zone: string
  readonly #maxDwellTicks: number
  /** The current visits by the track of the visitor. */
  readonly #visits = new Map<number, Visit>()
  /** Number of objects without a track that are inside in the current frame. */
  #untrackedInside = 0
  /** Number of visits, including the current ones. */
  #total = 0
  #endedCount = 0
  /** Total duration of the ended visits. */
  #endedSeconds = 0

  /**
   * A visit longer than `maxDwellSeconds` is reported, and again after each further such period.
   */
  constructor(zone: string, maxDwellSeconds = Number.POSITIVE_INFINITY) {
    this.#zone = zone
    this.#maxDwellTicks = maxDwellSeconds * TICKS_PER_SECOND
  }

  /**
   * Starts a frame with these objects. Returns the events of the visits that end because the grace
   * period is over, or because of a discontinuity.
   */
  startFrame(pts: number, discontinuity: boolean, objects: readonly DetectedObject[]): EventData[] {
    this.#untrackedInside = 0
    const tracks = new Set(objects.map(({ track }) => track))
    if (!discontinuity) this.#resumeVisits(objects, tracks)

    const hasEnded = (track: number, visit: Visit): boolean => {
      // Frames may be far apart: `update` decides whether the object has left in the meantime.
      const isUndecided = tracks.has(track) && visit.firstOutsidePts === undefined
      return !isUndecided && pts - visit.lastInsidePts > computeGrace(visit)
    }
    return [...this.#visits]
      .filter(([track, visit]) => discontinuity || hasEnded(track, visit))
      .map(([track]) => this.#exit(track))
  }

  /**
   * Continues the visits of parked objects that were lost and are detected again with a new track,
   * at the place where they stood. `tracks` are those of the objects.
   */
  #resumeVisits(objects: readonly DetectedObject[], tracks: ReadonlySet<number | undefined>): void {
    for (const [lostTrack, visit] of [...this.#visits]) {
      if (tracks.has(lostTrack) || !isParked(visit)) continue
      const newTrack = this.#findNewTrack(visit, objects)
      if (newTrack === undefined) continue
      this.#visits.delete(lostTrack)
      this.#visits.set(newTrack, visit)
    }
  }

  /**
   * Returns the track of an object without a visit that has the class of the lost visitor, and is
   * at the place where it stood.
   */
  #findNewTrack(
    { visitor, stillBox }: Visit,
    objects: readonly DetectedObject[],
  ): number | undefined {
    for (const { track, class: label, bbox } of objects) {
      if (track === undefined || this.#visits.has(track)) continue
      const isSameObject = label === visitor.class && iou(bbox, stillBox) >= MIN_STILL_IOU
      if (isSameObject) return track
    }
    return undefined
  }

  /**
   * Updates an object. `share` is how much of its region is in the zone, 0..1. Returns whether the
   * object is inside, and an event if it has entered, left or stayed too long.
   */
  update(object: DetectedObject, share: number, pts: number): Presence {
    const isMostlyInside = share >= MIN_INSIDE_SHARE
    const { track } = object
    if (track === undefined) {
      if (isMostlyInside) this.#untrackedInside += 1
      return { isInside: isMostlyInside }
    }

    const visit = this.#visits.get(track)
    if (visit) {
      updateVisitor(visit, object, pts)
      return this.#continueVisit(track, visit, share, pts)
    }
    return isMostlyInside ? this.#enter(track, object, pts) : { isInside: false }
  }

  #continueVisit(track: number, visit: Visit, share: number, pts: number): Presence {
    if (share >= MIN_INSIDE_SHARE) {
      visit.lastInsidePts = pts
      visit.firstOutsidePts = undefined
      return { isInside: true, event: this.#reportOverstay(visit, pts) }
    }

    // At the edge of the zone, the visit continues until the object has left the zone completely.
    visit.firstOutsidePts ??= pts
    return share > 0 ? { isInside: true } : { isInside: false, event: this.#exit(track) }
  }

  /**
   * Returns the current number of visitors, the total number of visits, and the mean duration
   * of the ended visits.
   */
  getCounter(): Counter {
    const meanSeconds = this.#endedCount === 0 ? 0 : this.#endedSeconds / this.#endedCount
    return {
      occupancy: this.#visits.size + this.#untrackedInside,
      total: this.#total,
      dwell_time: roundToMs(meanSeconds),
    }
  }

  #enter(track: number, visitor: DetectedObject, pts: number): Presence {
    this.#visits.set(track, {
      visitor,
      enteredPts: pts,
      lastInsidePts: pts,
      stillBox: visitor.bbox,
      stillSincePts: pts,
      nextReportPts: pts + this.#maxDwellTicks,
    })
    this.#total += 1
    return { isInside: true, event: this.#createEvent('zone-enter', visitor) }
  }

  /** Returns an event if the visit has exceeded another multiple of the maximum duration. */
  #reportOverstay(visit: Visit, pts: number): EventData | undefined {
    if (pts <= visit.nextReportPts) return undefined
    const ticks = pts - visit.enteredPts
    const completedPeriods = Math.floor(ticks / this.#maxDwellTicks)
    visit.nextReportPts = visit.enteredPts + (completedPeriods + 1) * this.#maxDwellTicks
    return {
      ...this.#createEvent('dwell', visit.visitor),
      dwell_time: roundToMs(ticks / TICKS_PER_SECOND),
    }
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

/** Stores the visitor as detected in this frame, and where and since when it stands still. */
function updateVisitor(visit: Visit, visitor: DetectedObject, pts: number): void {
  visit.visitor = visitor
  if (iou(visitor.bbox, visit.stillBox) >= MIN_STILL_IOU) return
  visit.stillBox = visitor.bbox
  visit.stillSincePts = pts
}

/**
 * Returns for how long a visit continues while its visitor is not inside. A visitor that was
 * detected outside is not occluded.
 */
function computeGrace({ lastInsidePts, firstOutsidePts, stillSincePts }: Visit): number {
  if (firstOutsidePts !== undefined) return GRACE_TICKS
  const parkedGrace = (lastInsidePts - stillSincePts) * PARKED_GRACE_SHARE
  return Math.min(Math.max(GRACE_TICKS, parkedGrace), MAX_GRACE_TICKS)
}

/** Returns whether a visitor has stood still for long enough to have a longer grace period. */
const isParked = (visit: Visit): boolean => computeGrace(visit) > GRACE_TICKS

function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
