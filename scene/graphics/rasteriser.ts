/**
 * The rows from `top` to `bottom` of a depth buffer. Larger values are closer. The
 * arrays begin at row `top`.
 */
export interface DepthBand {
  width: number
  top: number
  bottom: number
  depth: Float32Array
  /** Id of the closest triangle of each pixel, if requested. */
  ids?: Int32Array
}

/**
 * Draws a triangle of points [x, y, depth] into a depth buffer, where it is closer
 * than earlier triangles.
 */
export function drawDepth(band: DepthBand, points: readonly number[][], id: number): void {
  const [ax, ay, az] = points[0] as [number, number, number]
  const [bx, by, bz] = points[1] as [number, number, number]
  const [cx, cy, cz] = points[2] as [number, number, number]
  const x0 = Math.max(0, Math.floor(Math.min(ax, bx, cx)))
  const x1 = Math.min(band.width - 1, Math.ceil(Math.max(ax, bx, cx)))
  const y0 = Math.max(band.top, Math.floor(Math.min(ay, by, cy)))
  const y1 = Math.min(band.bottom - 1, Math.ceil(Math.max(ay, by, cy)))
  if (x0 > x1 || y0 > y1) return

  /** Twice the area of the triangle. */
  const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
  if (area === 0 || Number.isNaN(area)) return
  const inverseArea = 1 / area
  const { depth, ids } = band
  for (let y = y0; y <= y1; y++) {
    const py = y + 0.5
    for (let x = x0; x <= x1; x++) {
      const px = x + 0.5
      // Barycentric coordinates: the weights of the corners at this point.
      const u = ((bx - px) * (cy - py) - (by - py) * (cx - px)) * inverseArea
      const v = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) * inverseArea
      const w = 1 - u - v
      const isOutside = u < 0 || v < 0 || w < 0
      if (isOutside) continue

      const z = u * az + v * bz + w * cz
      const pixel = (y - band.top) * band.width + x
      if (z > depth[pixel]!) {
        depth[pixel] = z
        if (ids) ids[pixel] = id
      }
    }
  }
}

/** Sets the mask to 1 at every pixel whose centre is inside the triangle. */
export function fillTriangle(
  mask: Uint8Array,
  width: number,
  height: number,
  [ax, ay]: readonly [number, number],
  [bx, by]: readonly [number, number],
  [cx, cy]: readonly [number, number],
): void {
  const x0 = Math.max(0, Math.floor(Math.min(ax, bx, cx)))
  const x1 = Math.min(width - 1, Math.ceil(Math.max(ax, bx, cx)))
  const y0 = Math.max(0, Math.floor(Math.min(ay, by, cy)))
  const y1 = Math.min(height - 1, Math.ceil(Math.max(ay, by, cy)))
  const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
  if (x0 > x1 || y0 > y1 || area === 0) return
  const orientation = area < 0 ? -1 : 1
  for (let y = y0; y <= y1; y++) {
    const py = y + 0.5
    for (let x = x0; x <= x1; x++) {
      const px = x + 0.5
      const isInside =
        ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) * orientation >= 0 &&
        ((cx - bx) * (py - by) - (cy - by) * (px - bx)) * orientation >= 0 &&
        ((ax - cx) * (py - cy) - (ay - cy) * (px - cx)) * orientation >= 0
      if (isInside) mask[y * width + x] = 1
    }
  }
}
