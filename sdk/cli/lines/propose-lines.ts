import type { Line } from '@eyrie/element'
import {
  type Axes,
  createAxes,
  dot,
  findPassage,
  type Movement,
  normalize,
  type Passage,
  type ProjectedPath,
  project,
  reverse,
  toMovement,
  toPictureLine,
  type Vector,
} from './path-projection.ts'
import type { Path } from './path-recorder.ts'

/** Fewer moving objects are not enough evidence for a road. */
export const MIN_PATHS = 3
/** A road has at least this share of all moving objects. */
const MIN_PATHS_SHARE = 0.1
const MAX_LINES = 3

/**
 * Minimum distance from the first to the last position of a moving object, in picture heights
 * as all distances here.
 */
const MIN_LENGTH = 0.15
/**
 * Minimum share of that distance in the length of the path. It is low for objects that go back and
 * forth, and for jitter.
 */
const MIN_STRAIGHTNESS = 0.5
/**
 * Paths on one road differ by at most this angle from one of them. Perspective spreads
 * the lanes of a road.
 */
const MAX_ANGLE = Math.PI / 4
/** A greater distance between neighbouring paths separates two roads. */
const MAX_LANE_DISTANCE = 0.3

/** Number of places along a road that are compared. */
const STATIONS = 60
/** Beyond this distance from the line, it does not matter how far an object was followed. */
const MAX_DEPTH = 0.25
/** Places whose score is at least this share of the best score are equally good. */
const EQUAL_SCORE = 0.95
/** Objects of other roads should stay this far from a line. */
const CLEARANCE = 0.08
/**
 * A line extends beyond the outermost paths by this distance, and by this share of their spread.
 */
const MARGIN = { distance: 0.08, share: 0.15 }

/** A line across the paths of moving objects. */
export interface ProposedLine extends Line {
  coords: [Line['coords'][number], Line['coords'][number]]
  /** Recorded paths that cross the line, by direction. Most cross it in the direction `up`. */
  up: { paths: number; heading: string }
  down: { paths: number; heading: string }
}

/**
 * Proposes lines at which moving objects can be counted, at most three, the one with
 * the most paths first:
 *
 * 1. Objects that stand, or that only go back and forth, are ignored.
 * 2. The paths that have about the same direction, in either sense, and lie next to each other are
 *    a road. The largest road comes first.
 * 3. The line is perpendicular to the road, at the place that most paths pass, far from their ends
 *    and clear of the paths of other roads. It is a little longer than the spread of the paths.
 * 4. Paths that cross the line need no other line. The rest may form the next road.
 *
 * Returns an empty list if fewer than three objects moved along a road.
 */
export function proposeLines(paths: readonly Path[]): ProposedLine[] {
  const limits = { minLength: MIN_LENGTH, minStraightness: MIN_STRAIGHTNESS }
  const movements = paths.flatMap(path => toMovement(path, limits) ?? [])
  const minPaths = Math.max(MIN_PATHS, movements.length * MIN_PATHS_SHARE)

  const lines: ProposedLine[] = []
  let remaining = movements
  while (lines.length < MAX_LINES) {
    const road = findLargestRoad(remaining)
    if (road.length < minPaths) break

    const others = movements.filter(movement => !road.includes(movement))
    const axes = createAxes(findDirection(road))
    const place = findPlace(road, others, axes)
    const crossing = place
      ? movements.filter(movement => findCrossing(project(movement, axes), place))
      : []
    remaining = remaining.filter(
      movement => !road.includes(movement) && !crossing.includes(movement),
    )
    if (!place || crossing.length < minPaths) continue

    const line = createLine(crossing, place, axes, lines.length)
    if (line) lines.push(line)
  }
  return lines
}

/**
 * Returns the most paths that have about the direction of the first one and lie next to each other.
 */
function findLargestRoad(movements: readonly Movement[]): Movement[] {
  const minCosine = Math.cos(MAX_ANGLE)
  let largest: Movement[] = []
  for (const reference of movements) {
    const parallel = movements.filter(
      ({ heading }) => Math.abs(dot(heading, reference.heading)) >= minCosine,
    )
    if (parallel.length <= largest.length) continue
    const road = splitByPlace(parallel, createAxes(reference.heading)).find(paths =>
      paths.includes(reference),
    )!
    if (road.length > largest.length) {
      largest = [reference, ...road.filter(path => path !== reference)]
    }
  }
  return largest
}

/** Splits parallel paths where two neighbours are too far apart for lanes of one road. */
function splitByPlace(movements: readonly Movement[], { across }: Axes): Movement[][] {
  const getOffset = ({ middle }: Movement) => dot(middle, across)
  const sorted = movements.toSorted((a, b) => getOffset(a) - getOffset(b))
  const roads: Movement[][] = []
  for (const movement of sorted) {
    const neighbour = roads.at(-1)?.at(-1)
    const isNear = neighbour && getOffset(movement) - getOffset(neighbour) <= MAX_LANE_DISTANCE
    if (isNear) roads.at(-1)!.push(movement)
    else roads.push([movement])
  }
  return roads
}

/** Returns the mean direction of a road, in the sense of its first path. */
function findDirection(road: readonly Movement[]): Vector {
  const reference = road[0]!
  const sum = { x: 0, y: 0 }
  for (const { heading } of road) {
    const sense = Math.sign(dot(heading, reference.heading))
    sum.x += sense * heading.x
    sum.y += sense * heading.y
  }
  return normalize(sum)
}

/**
 * A place for a line: a station, which is a distance along the road, and the ends of the
 * line across the road.
 */
interface Place {
  station: number
  from: number
  to: number
}

/**
 * Returns the best place for a line across a road. Returns undefined if other roads
 * cover the whole road.
 */
function findPlace(
  road: readonly Movement[],
  others: readonly Movement[],
  axes: Axes,
): Place | undefined {
  const paths = road.map(movement => project(movement, axes))
  const otherPaths = others.map(movement => project(movement, axes))
  const ends = paths.flatMap(({ points }) => [points[0]!.along, points.at(-1)!.along])
  const [start, end] = [Math.min(...ends), Math.max(...ends)]

  const candidates = Array.from({ length: STATIONS }, (_, i) =>
    ratePlace(paths, otherPaths, start + ((i + 0.5) / STATIONS) * (end - start)),
  )
  const bestScore = Math.max(...candidates.map(({ score }) => score))
  if (bestScore <= 0) return undefined

  const middle =
    road.reduce((sum, movement) => sum + dot(movement.middle, axes.along), 0) / road.length
  const best = candidates.filter(({ score }) => score >= EQUAL_SCORE * bestScore)
  const [nearest] = best.toSorted(
    (a, b) => Math.abs(a.station - middle) - Math.abs(b.station - middle),
  )
  return nearest
}

/**
 * Rates a station. The score increases with the number of paths that pass it and with the
 * distance over which they were followed on both sides. It decreases with the paths of other
 * roads near the line.
 */
function ratePlace(
  paths: readonly ProjectedPath[],
  others: readonly ProjectedPath[],
  station: number,
): Place & { score: number } {
  const passages = paths.flatMap(path => findPassage(path, station) ?? [])
  const lanes = passages.map(({ across }) => across)
  const [left, right] = [Math.min(...lanes), Math.max(...lanes)]
  const margin = MARGIN.distance + MARGIN.share * (right - left)
  const place = { station, from: left - margin, to: right + margin }

  const support = passages.reduce((sum, { depth }) => sum + Math.min(depth, MAX_DEPTH), 0)
  const intruders = others.filter(path => isNear(path, place)).length
  return { ...place, score: support - MAX_DEPTH * intruders }
}

const isNear = ({ points }: ProjectedPath, { station, from, to }: Place) =>
  points.some(
    ({ along, across }) => Math.abs(along - station) <= CLEARANCE && across >= from && across <= to,
  )

/** Returns where a path crosses the line, or undefined if it passes beyond its ends. */
function findCrossing(path: ProjectedPath, { station, from, to }: Place): Passage | undefined {
  const passage = findPassage(path, station)
  return passage && passage.across >= from && passage.across <= to ? passage : undefined
}

/** Creates the line at a place. Returns undefined if almost nothing of it is inside the picture. */
function createLine(
  crossing: readonly Movement[],
  place: Place,
  axes: Axes,
  index: number,
): ProposedLine | undefined {
  const coords = toPictureLine(axes, place.station, place)
  if (!coords) return undefined

  const passages = crossing.flatMap(movement => findCrossing(project(movement, axes), place) ?? [])
  const forward = passages.filter(({ isForward }) => isForward).length
  const along = { paths: forward, heading: describeHeading(axes.along) }
  const against = {
    paths: passages.length - forward,
    heading: describeHeading(reverse(axes.along)),
  }
  const name = index === 0 ? 'path' : `path-${index + 1}`
  if (along.paths >= against.paths) return { name, coords, up: along, down: against }
  return { name, coords: [coords[1], coords[0]], up: against, down: along }
}

/** Headings in steps of 45 degrees, clockwise from the right because y points down. */
const HEADINGS = [
  'to the right',
  'down to the right',
  'downwards',
  'down to the left',
  'to the left',
  'up to the left',
  'upwards',
  'up to the right',
]

function describeHeading({ x, y }: Vector): string {
  const eighths = Math.round((Math.atan2(y, x) / Math.PI) * 4)
  return HEADINGS[(eighths + 8) % 8]!
}

/**
 * Describes what a line counts, as in
 * `path: 14 objects moved to the right (up), 3 to the left (down)`.
 */
export function describeLine({ name, up, down }: ProposedLine): string {
  const objects = up.paths === 1 ? 'object' : 'objects'
  return `${name}: ${up.paths} ${objects} moved ${up.heading} (up), ${down.paths} ${down.heading} (down)`
}
