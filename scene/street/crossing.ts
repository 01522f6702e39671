import { paint } from '../picture/colour.ts'
import type { Layout, Point } from './layout.ts'
import type { Site } from './site.ts'

/** Where the two traffic lights stand. */
export function signalPosts(layout: Layout): readonly [Point, Point] {
  const { crossingX, crossingHalfWidth, roadNear, roadFar } = layout
  return [
    [crossingX - crossingHalfWidth - 0.5, roadNear - 0.5],
    [crossingX + crossingHalfWidth + 0.5, roadFar + 0.4],
  ]
}

/** The bin, the traffic lights' posts and the signs at the crossing. */
export function addCrossing(site: Site): void {
  const { crossingX, crossingHalfWidth, roadNear, roadFar, bay } = site.layout
  const bin: Point = [crossingX + crossingHalfWidth + 2.4, roadNear - 1.2]
  site.list.post(bin, 0, 0.9, 0.24, 0.27, paint(0x2f5a40))
  site.obstacles.push([...bin, 0.5])
  for (const [x, y] of signalPosts(site.layout)) {
    site.list.post([x, y], 0, 2.9, 0.055, 0.05, paint(0x3a3e40))
    site.list.box([x - 0.14, y - 0.12, 2.2], [x + 0.14, y + 0.12, 2.95], paint(0x15171a))
    site.obstacles.push([x, y, 0.3])
  }
  for (const side of [-1, 1]) {
    const x = crossingX + side * (crossingHalfWidth + 3.2)
    const y = roadFar + bay + 0.4
    const [left, right, front] = [x - 0.3, x + 0.3, y - 0.04]
    const colour = paint(side > 0 ? 0x2050a0 : 0xc02020)
    site.list.post([x, y], 0, 2.6, 0.035, 0.035, paint(0x8a8e90), 8)
    site.list.quad([left, front, 2.0], [right, front, 2.0], [right, front, 2.6], [left, front, 2.6], colour)
  }
}
