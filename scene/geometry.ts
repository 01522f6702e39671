import type { Outline, SceneTruth, TruthFrame, TruthObject } from './truth.ts'

type Point = Outline['coords'][number]
type Box = TruthObject['bbox']

/** Share of a box's height, from below, that stands for the object on the ground. */
const FOOT_SHARE = 0.25

const footPart = ({ x, y, w, h }: Box): Box => ({ x, y: y + h * (1 - FOOT_SHARE), w, h: h * FOOT_SHARE })

const centre = ({ x, y, w, h }: Box): Point => ({ x: x + w / 2, y: y + h / 2 })

/** Positive to the right of the way from a to b, in a picture whose y points down. */
const side = (a: Point, b: Point, p: Point): number => (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)

/** Whether the step from p to q crosses the segment from a to b, and to which side. */
function crossing(a: Point, b: Point, p: Point, q: Point): 'up' | 'down' | null {
  const before = side(a, b, p) > 0
  const after = side(a, b, q) > 0
  if (before === after || side(p, q, a) > 0 === side(p, q, b) > 0) return null
  return after ? 'up' : 'down'
}

/** Every passage of an object's foot over the line: from left to right is up. */
export function countCrossings(line: Outline, frames: readonly TruthFrame[]): SceneTruth['crossings'] {
  const found: SceneTruth['crossings'] = []
  const last = new Map<number, Point>()
  for (const { n, objects } of frames)
    for (const { track, class: kind, bbox } of objects) {
      const at = centre(footPart(bbox))
      const from = last.get(track)
      last.set(track, at)
      if (!from) continue
      for (let i = 0; i + 1 < line.coords.length; i++) {
        const direction = crossing(line.coords[i]!, line.coords[i + 1]!, from, at)
        if (direction) found.push({ line: line.name, frame: n, track, class: kind, direction })
      }
    }
  return found
}

/** Every stay of an object in the zone: inside while at least half of its foot part's area is. */
export function findVisits(zone: Outline, frames: readonly TruthFrame[], fps: number): SceneTruth['visits'] {
  const visits: SceneTruth['visits'] = []
  const open = new Map<number, SceneTruth['visits'][number]>()
  for (const { n, objects } of frames) {
    const inside = objects.filter(({ bbox }) => coveredShare(footPart(bbox), zone.coords) >= 0.5)
    const present = new Set(inside.map(({ track }) => track))
    for (const [track, visit] of open) {
      if (present.has(track)) continue
      visit.exit_frame = n
      open.delete(track)
    }
    for (const { track, class: kind } of inside) {
      if (open.has(track)) continue
      const visit = { zone: zone.name, track, class: kind, enter_frame: n, exit_frame: null, dwell_s: 0 }
      open.set(track, visit)
      visits.push(visit)
    }
  }
  for (const visit of visits)
    visit.dwell_s = ((visit.exit_frame ?? frames.at(-1)!.n + 1) - visit.enter_frame) / fps
  return visits
}

/** Share of a box's area that a simple polygon covers. */
export function coveredShare(box: Box, polygon: readonly Point[]): number {
  const { x, y, w, h } = box
  let rest = [...polygon]
  rest = clipped(rest, p => p.x - x)
  rest = clipped(rest, p => x + w - p.x)
  rest = clipped(rest, p => p.y - y)
  rest = clipped(rest, p => y + h - p.y)
  return area(rest) / (w * h)
}

/** What of a polygon lies where `inside` is positive (Sutherland and Hodgman, 1974). */
function clipped(polygon: readonly Point[], inside: (p: Point) => number): Point[] {
  return polygon.flatMap((p, i) => {
    const before = polygon.at(i - 1)!
    const [from, to] = [inside(before), inside(p)]
    const t = from / (from - to)
    const cut = { x: before.x + (p.x - before.x) * t, y: before.y + (p.y - before.y) * t }
    if (to < 0) return from < 0 ? [] : [cut]
    return from < 0 ? [cut, p] : [p]
  })
}

function area(polygon: readonly Point[]): number {
  let twice = 0
  polygon.forEach((p, i) => {
    const before = polygon.at(i - 1)!
    twice += before.x * p.y - p.x * before.y
  })
  return Math.abs(twice) / 2
}
