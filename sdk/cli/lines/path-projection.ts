import type { Point } from '@eyrie/contract'
import type { Path } from './path-recorder.ts'

/**
 * Geometry of the paths of objects, to find the road on which they move and the lines across it.
 * All lengths are in picture heights, in both directions. In the normalized coordinates of the
 * engine, from 0 to 1, lengths and angles would be distorted.
 */

/**
 * Assumed ratio of width and height of the picture, which the output of the engine does not
 * contain. Most cameras send 16:9. With another ratio, proposed lines are tilted slightly.
 */
const ASPECT_RATIO = 16 / 9

/** Parts of a line that are shorter can hardly be seen. */
const MIN_LINE_LENGTH = 0.02

/** A vector, or a point, in picture heights. */
export interface Vector {
  x: number
  y: number
}

export const dot = (a: Vector, b: Vector) => a.x * b.x + a.y * b.y
export const subtract = (a: Vector, b: Vector): Vector => ({ x: a.x - b.x, y: a.y - b.y })
export const getLength = ({ x, y }: Vector) => Math.hypot(x, y)
export const reverse = ({ x, y }: Vector): Vector => ({ x: -x, y: -y })

/** Returns a vector in the same direction with a length of 1. */
export function normalize(vector: Vector): Vector {
  const length = getLength(vector)
  return { x: vector.x / length, y: vector.y / length }
}

/** Converts a position in normalized coordinates to picture heights. */
export const toHeights = ({ x, y }: Point): Vector => ({ x: x * ASPECT_RATIO, y })

/** The path of an object that has moved from one place to another. */
export interface Movement {
  points: readonly Vector[]
  /** Direction from the first point to the last, a vector with a length of 1. */
  heading: Vector
  /** The point halfway between the first and the last point. */
  middle: Vector
}

/** What distinguishes a movement from the path of an object that stays in one place. */
export interface MovementLimits {
  /** Minimum distance between the first and the last point. */
  minLength: number
  /** Minimum share of this distance in the length of the whole path. */
  minStraightness: number
}

/**
 * Converts the path of an object. Returns undefined if it is not a movement: if it is too short, or
 * mostly goes back and forth.
 */
export function toMovement(
  path: Path,
  { minLength, minStraightness }: MovementLimits,
): Movement | undefined {
  const points = path.map(toHeights)
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last) return undefined

  const move = subtract(last, first)
  const distance = getLength(move)
  const isStraight = distance >= getPathLength(points) * minStraightness
  if (distance < minLength || !isStraight) return undefined
  const middle = { x: (first.x + last.x) / 2, y: (first.y + last.y) / 2 }
  return { points, heading: normalize(move), middle }
}

/** Returns the sum of the distances between consecutive points. */
function getPathLength(points: readonly Vector[]): number {
  let length = 0
  for (let i = 1; i < points.length; i += 1) {
    length += getLength(subtract(points[i]!, points[i - 1]!))
  }
  return length
}

/**
 * The directions along and across a road, vectors with a length of 1. `across` points to the left
 * of `along`, because y points down. Seen from the start of a line in the direction of `across`, an
 * object that moves in the direction of `along` therefore crosses it from left to right.
 */
export interface Axes {
  along: Vector
  across: Vector
}

export const createAxes = (along: Vector): Axes => ({ along, across: { x: along.y, y: -along.x } })

/** A path in the coordinates of a road: distances from the origin along and across it. */
export interface ProjectedPath {
  points: readonly { along: number; across: number }[]
}

export const project = ({ points }: Movement, { along, across }: Axes): ProjectedPath => ({
  points: points.map(point => ({ along: dot(point, along), across: dot(point, across) })),
})

/** Where a path first passes a station. A station is a place on a road: its distance `along`. */
export interface Passage {
  /** The distance across the road. */
  across: number
  /** Length of the path before or after the station, along the road. The shorter of the two. */
  depth: number
  /** Whether the path leads in the direction of `along`. */
  isForward: boolean
}

/** Finds where a path passes a station. Returns undefined if the path does not reach it. */
export function findPassage({ points }: ProjectedPath, station: number): Passage | undefined {
  const first = points[0]!
  const last = points.at(-1)!
  for (let i = 1; i < points.length; i += 1) {
    const from = points[i - 1]!
    const to = points[i]!
    const areOnOneSide = from.along < station === to.along < station
    if (areOnOneSide) continue

    // The position is interpolated between the last point before the station and the next one.
    const share = (station - from.along) / (to.along - from.along)
    return {
      across: from.across + share * (to.across - from.across),
      depth: Math.min(Math.abs(station - first.along), Math.abs(last.along - station)),
      isForward: last.along > first.along,
    }
  }
  return undefined
}

/**
 * Returns a line across the road at a station, in normalized coordinates. It extends from the
 * distance `from` to the distance `to` across the road, but not beyond the picture. Returns
 * undefined if it is too short.
 */
export function toPictureLine(
  { along, across }: Axes,
  station: number,
  { from, to }: { from: number; to: number },
): [Point, Point] | undefined {
  const origin = { x: along.x * station, y: along.y * station }
  const horizontal = clipRange(origin.x, across.x, ASPECT_RATIO)
  const vertical = clipRange(origin.y, across.y, 1)
  const start = Math.max(from, horizontal.from, vertical.from)
  const end = Math.min(to, horizontal.to, vertical.to)
  if (end - start < MIN_LINE_LENGTH) return undefined

  const toPoint = (distance: number): Point => ({
    x: toShare((origin.x + across.x * distance) / ASPECT_RATIO),
    y: toShare(origin.y + across.y * distance),
  })
  return [toPoint(start), toPoint(end)]
}

/**
 * Returns the range of t for which `origin + t * step` is between 0 and `size`. If there is no such
 * t, `from` is greater than `to`.
 */
function clipRange(origin: number, step: number, size: number): { from: number; to: number } {
  if (Math.abs(step) < Number.EPSILON) {
    // The value is the same for all t.
    const isInside = origin >= 0 && origin <= size
    return isInside ? { from: -Infinity, to: Infinity } : { from: Infinity, to: -Infinity }
  }
  const bounds = [-origin / step, (size - origin) / step]
  return { from: Math.min(...bounds), to: Math.max(...bounds) }
}

/**
 * Clips a coordinate to the picture, and rounds it to a thousandth. A person does not draw more
 * precisely.
 */
const toShare = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000
