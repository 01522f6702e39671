/** How long after its picture a frame's metadata arrives. */
export interface Lateness {
  pictureArrived(pts: number, nowMs: number): void
  metadataArrived(pts: number, nowMs: number): void
  /** 95th percentile of the last hundred frames in ms, at least 0; a usual value before the first frame. */
  p95Ms(): number
}

const SAMPLES = 100
const USUAL_MS = 100

export function createLateness(): Lateness {
  const pictures = new Map<number, number>()
  const metadata = new Map<number, number>()
  const samples: number[] = []

  const remember = (arrivals: Map<number, number>, pts: number, nowMs: number) => {
    arrivals.set(pts, nowMs)
    const [oldest] = arrivals.keys()
    if (arrivals.size > SAMPLES && oldest !== undefined) arrivals.delete(oldest)
    const picture = pictures.get(pts)
    const found = metadata.get(pts)
    if (picture === undefined || found === undefined) return
    samples.push(Math.max(0, found - picture))
    if (samples.length > SAMPLES) samples.shift()
  }

  return {
    pictureArrived: (pts, nowMs) => remember(pictures, pts, nowMs),
    metadataArrived: (pts, nowMs) => remember(metadata, pts, nowMs),
    p95Ms() {
      const sorted = samples.toSorted((a, b) => a - b)
      return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? USUAL_MS
    },
  }
}
