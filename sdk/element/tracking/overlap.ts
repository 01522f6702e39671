import type { BBox } from '@eyrie/contract/object'

/** Intersection over union of two boxes: 0..1. */
export function overlap(a: BBox, b: BBox): number {
  const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)
  const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y)
  if (w <= 0 || h <= 0) return 0
  const intersection = w * h
  return intersection / (a.w * a.h + b.w * b.h - intersection)
}

/** A box with a margin of `share` of its size on every side. */
export function enlarged({ x, y, w, h }: BBox, share: number): BBox {
  return { x: x - w * share, y: y - h * share, w: w * (1 + 2 * share), h: h * (1 + 2 * share) }
}
