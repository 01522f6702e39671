/**
 * A region of connected moving pixels: its bounding box in pixels, and the number of moving pixels.
 */
export interface MotionRegion {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  readonly movingPixels: number
}

/**
 * Merges regions whose boxes are at most `maxGap` pixels apart, until all remaining
 * boxes are farther apart.
 */
export function mergeRegions(regions: readonly MotionRegion[], maxGap: number): MotionRegion[] {
  const merged: MotionRegion[] = []
  for (const region of regions) {
    let grown = region
    // A region that has grown may have become adjacent to others.
    for (;;) {
      const neighbourIndex = merged.findIndex(other => areAdjacent(grown, other, maxGap))
      if (neighbourIndex < 0) break
      const [neighbour] = merged.splice(neighbourIndex, 1)
      grown = union(grown, neighbour!)
    }
    merged.push(grown)
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

/** Returns the smallest region that contains both regions. */
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
