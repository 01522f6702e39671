import type { Point } from '@eyrie/element'

/**
 * How often a straight step crosses a line of two or more points: from left to right +1, from right to left −1, summed,
 * for somebody who stands at the line's first point and looks to its last (y points down).
 *
 * A step that only touches the line, or runs along it, crosses nothing; one through a corner crosses once. These cases
 * are decided as if every position lay a step (ε, ε²) aside, ε infinitely small (Edelsbrunner and Mücke 1990,
 * "Simulation of Simplicity"), so that the sum over a path is the same however the path is cut into steps.
 */
export function netCrossings(from: Point, to: Point, line: readonly Point[]): number {
  let net = 0
  for (let i = 1; i < line.length; i++) net += crossing(from, to, line[i - 1]!, line[i]!)
  return net
}

/** The line with its two ends moved outwards by a billionth, so that a step through an end crosses it. */
export function withEnds(line: readonly Point[]): Point[] {
  const [first, second] = line
  const [beforeLast, last] = line.slice(-2)
  return [beyond(second!, first!), ...line.slice(1, -1), beyond(beforeLast!, last!)]
}

function crossing(from: Point, to: Point, a: Point, b: Point): number {
  const before = side(a, b, from, +1)
  const after = side(a, b, to, +1)
  if (before === after || side(from, to, a, -1) === side(from, to, b, -1)) return 0
  return after
}

/** Where `p` lies, seen from `a` towards `b`: left −1, right +1. On the line, an offset of (ε, ε²) decides. */
function side(a: Point, b: Point, p: Point, offset: 1 | -1): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  return Math.sign(dx * (p.y - a.y) - dy * (p.x - a.x)) || offset * Math.sign(-dy || dx)
}

function beyond(from: Point, to: Point): Point {
  return { x: to.x + (to.x - from.x) * 1e-9, y: to.y + (to.y - from.y) * 1e-9 }
}
