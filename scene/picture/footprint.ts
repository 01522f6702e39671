import { smoothstep } from '../maths/arithmetic.ts'
import type { Camera } from './camera.ts'
import type { Bounds } from './figure.ts'

/** The patch of ground an object darkens by standing on it: centre, heading and half sizes in metres. */
export interface Footprint {
  x: number
  y: number
  hx: number
  hy: number
  /** Half length and half width of a car's; a person's is round. */
  half?: readonly [length: number, width: number]
}

/** How much an object darkens the ground at (dx, dy) from its centre, 0..255. */
export function groundDarkness({ hx, hy, half }: Footprint, dx: number, dy: number): number {
  if (!half) {
    const distance = Math.sqrt(dx * dx + dy * dy)
    return distance > 0.48 ? 0 : 88 * (1 - smoothstep(0.05, 0.48, distance))
  }
  const outside = Math.max(Math.abs(dx * hx + dy * hy) - half[0], Math.abs(dx * hy - dy * hx) - half[1])
  return 150 * (1 - smoothstep(-0.25, 0.45, outside))
}

/** The pixels that the darkened ground lies within. */
export function footprintBounds(camera: Camera, { x, y, hx, hy, half = [0.03, 0.03] }: Footprint): Bounds {
  const point = [0, 0, 0]
  const bounds = { left: 1e9, top: 1e9, right: -1e9, bottom: -1e9 }
  const length = half[0] + 0.46
  const width = half[1] + 0.46
  for (const a of [-length, length])
    for (const b of [-width, width]) {
      camera.project(x + hx * a + hy * b, y + hy * a - hx * b, 0, point)
      if (point[2]! < 0) continue
      bounds.left = Math.min(bounds.left, point[0]!)
      bounds.right = Math.max(bounds.right, point[0]!)
      bounds.top = Math.min(bounds.top, point[1]!)
      bounds.bottom = Math.max(bounds.bottom, point[1]!)
    }
  return bounds
}
