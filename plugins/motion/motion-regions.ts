/** Bounding box of connected moving pixels and their number, in pixels. */
export interface MotionRegion {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  readonly movingPixels: number
}

/** Merges regions whose boxes are at most `maxGap` pixels apart, until all remaining boxes are farther apart. */
export function mergeRegions(regions: readonly MotionRegion[], maxGap: number): MotionRegion[] {
  const merged: MotionRegion[] = []
  for (let region of regions) {
    let neighbour = merged.findIndex(other => areAdjacent(region, other, maxGap))
    while (neighbour >= 0) {
      region = union(region, merged.splice(neighbour, 1)[0]!)
      neighbour = merged.findIndex(other => areAdjacent(region, other, maxGap))
    }
    merged.push(region)
  }
  return merged
}

function areAdjacent(a: MotionRegion, b: MotionRegion, maxGap: number): boolean {
  return (
    a.x <= b.x + b.w + maxGap &&
    b.x <= a.x + a.w + maxGap &&
    a.y <= b.y + b.h + maxGap &&
    b.y <= a.y + a.h + maxGap
  )
}

function union(a: MotionRegion, b: MotionRegion): MotionRegion {
  const x = Math.min(a.x, b.x)
  const y = Math.min(a.y, b.y)
  return {
    x,
    y,
    w: Math.max(a.x + a.w, b.x + b.w) - x,
    h: Math.max(a.y + a.h, b.y + b.h) - y,
    movingPixels: a.movingPixels + b.movingPixels,
  }
}
