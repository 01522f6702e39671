/** Measures how long after a video frame its metadata arrives. */
export interface MetadataDelay {
  frameArrived(pts: number, nowMs: number): void
  metadataArrived(pts: number, nowMs: number): void
  /** 95th percentile of the last hundred frames in ms, at least 0. Before the first frame, a typical value. */
  p95Ms(): number
}

const MAX_SAMPLES = 100
const TYPICAL_MS = 100

export function createMetadataDelay(): MetadataDelay {
  /** Arrival times by pts. */
  const frames = new Map<number, number>()
  const metadata = new Map<number, number>()
  const samples: number[] = []

  const addArrival = (arrivals: Map<number, number>, pts: number, nowMs: number) => {
    arrivals.set(pts, nowMs)
    const [oldest] = arrivals.keys()
    if (arrivals.size > MAX_SAMPLES && oldest !== undefined) arrivals.delete(oldest)
    const frameMs = frames.get(pts)
    const metadataMs = metadata.get(pts)
    if (frameMs === undefined || metadataMs === undefined) return
    samples.push(Math.max(0, metadataMs - frameMs))
    if (samples.length > MAX_SAMPLES) samples.shift()
  }

  return {
    frameArrived: (pts, nowMs) => addArrival(frames, pts, nowMs),
    metadataArrived: (pts, nowMs) => addArrival(metadata, pts, nowMs),
    p95Ms() {
      const sorted = samples.toSorted((a, b) => a - b)
      return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? TYPICAL_MS
    },
  }
}
