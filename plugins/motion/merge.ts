/** A region of moving pixels: the box around it, and how many they are. */
export interface Region {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  readonly moving: number
}

/** Joins regions whose boxes are no more than `gap` apart, until all that are left lie farther from one another. */
export function merge(regions: readonly Region[], gap: number): Region[] {
  const merged: Region[] = []
  for (let region of regions) {
    let near = merged.findIndex(other => areNear(region, other, gap))
    while (near >= 0) {
      region = joined(region, merged.splice(near, 1)[0]!)
      near = merged.findIndex(other => areNear(region, other, gap))
    }
    merged.push(region)
  }
  return merged
}

function areNear(a: Region, b: Region, gap: number): boolean {
  return a.x <= b.x + b.w + gap && b.x <= a.x + a.w + gap && a.y <= b.y + b.h + gap && b.y <= a.y + a.h + gap
}

function joined(a: Region, b: Region): Region {
  const x = Math.min(a.x, b.x)
  const y = Math.min(a.y, b.y)
  return {
    x,
    y,
    w: Math.max(a.x + a.w, b.x + b.w) - x,
    h: Math.max(a.y + a.h, b.y + b.h) - y,
    moving: a.moving + b.moving,
  }
}
