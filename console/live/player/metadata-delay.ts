import { TOLERANCE_TICKS } from '../../video/metadata-buffer.ts'

/**
 * Measures how long after a video frame its metadata, the analysis result, arrives. Players delay
 * video by this time, so that boxes can be drawn on the frame to which they belong.
 *
 * A frame and its metadata have the same `pts`, the presentation time in the stream, up to a
 * tolerance.
 */
export interface MetadataDelay {
  frameArrived(pts: number, nowMs: number): void
  metadataArrived(pts: number, nowMs: number): void
  /**
   * Returns the 95th percentile of the last 100 frames in ms, or a typical value before the first
   * frame. Never negative.
   */
  p95Ms(): number
}

const MAX_SAMPLES = 100
/** Assumed before anything has been measured. */
const TYPICAL_MS = 100

export function createMetadataDelay(): MetadataDelay {
  /** Arrival times in ms, by pts. */
  const frameArrivals = new Map<number, number>()
  const metadataArrivals = new Map<number, number>()
  const delaysMs: number[] = []

  function addArrival(arrivals: Map<number, number>, pts: number, nowMs: number) {
    arrivals.set(pts, nowMs)
    const [oldestPts] = arrivals.keys()
    if (arrivals.size > MAX_SAMPLES && oldestPts !== undefined) arrivals.delete(oldestPts)
  }

  /** Adds the delay of a frame as soon as both the frame and its metadata have arrived. */
  function addDelay(frameMs: number | undefined, metadataMs: number | undefined) {
    if (frameMs === undefined || metadataMs === undefined) return
    delaysMs.push(Math.max(0, metadataMs - frameMs))
    if (delaysMs.length > MAX_SAMPLES) delaysMs.shift()
  }

  return {
    frameArrived(pts, nowMs) {
      addArrival(frameArrivals, pts, nowMs)
      addDelay(nowMs, findArrival(metadataArrivals, pts))
    },
    metadataArrived(pts, nowMs) {
      addArrival(metadataArrivals, pts, nowMs)
      addDelay(findArrival(frameArrivals, pts), nowMs)
    },
    p95Ms() {
      const sorted = delaysMs.toSorted((a, b) => a - b)
      return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? TYPICAL_MS
    },
  }
}

/** Returns the arrival time, in ms, of the frame or metadata with this pts. */
function findArrival(arrivals: ReadonlyMap<number, number>, pts: number): number | undefined {
  for (const [arrivalPts, arrivalMs] of arrivals) {
    if (Math.abs(arrivalPts - pts) <= TOLERANCE_TICKS) return arrivalMs
  }
  return undefined
}
