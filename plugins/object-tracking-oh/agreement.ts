import type { Point } from '@eyrie/element'

/** Steps shorter than this, in boxes, say less and less of a direction: the box trembles as much. */
const firmPast = 0.3
const firmNow = 0.1

/**
 * Whether two steps go the same way: 0.5 if they do, −0.5 if they are opposite, 0 if they stand at right angles or one
 * of them goes nowhere. The angle between them as in OC-SORT (Cao et al. 2023).
 */
export function agreementOf(past: Point, now: Point): number {
  const [before, after] = [Math.hypot(past.x, past.y), Math.hypot(now.x, now.y)]
  if (before === 0 || after === 0) return 0
  const cosine = (past.x * now.x + past.y * now.y) / (before * after)
  const angle = Math.acos(Math.min(1, Math.max(-1, cosine)))
  return Math.min(1, before / firmPast) * Math.min(1, after / firmNow) * (0.5 - angle / Math.PI)
}
