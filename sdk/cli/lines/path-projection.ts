import type { Point } from '@eyrie/contract'
import type { Path } from './path-recorder.ts'

// Geometry of paths in picture heights, so that lengths and angles look right. The output of the
// engine does not contain the size of the picture. Most cameras send 16:9; another ratio only tilts
// the proposed lines slightly.
const ASPECT_RATIO = 16 / 9

/** Shorter parts of a line cannot be seen. */
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

/** Returns the vector with a length of 1. */
export function normalize(vector: Vector): Vector {
  const length = getLength(vector)
  return { x: vector.x / length, y: vector.y / length }
}

/** Converts a position in the picture, from 0 to 1, to picture heights. */
export const toHeights = ({ x, y }: Point): Vector => ({ x: x * ASPECT_RATIO, y })

/** A path that has moved from its first to its last point. */
export interface Movement {
  points: readonly Vector[]
  /** From the first point towards the last, with a length of 1. */
  heading: Vector
  middle: Vector
}

/**
 * Converts a path that moved. Returns undefined if it is shorter than `minLength` or mostly
 * went back and forth.
 */
export function toMovement(
  path: Path,
  minLength: number,
  minStraightness: number,
): Movement | undefined {
  const points = path.map(toHeights)
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last) return undefined

  const move = subtract(last, first)
  const distance = getLength(move)
  const walked = points
    .slice(1)
    .reduce((sum, point, i) => sum + getLength(subtract(point, points[i]!)), 0)
  if (distance < minLength || distance < walked * minStraightness) return undefined
  const middle = { x: (first.x + last.x) / 2, y: (first.y + last.y) / 2 }
  return { points, heading: normalize(move), middle }
}

/**
 * The directions along and across a road. `across` is to the left of `along` (y points down), so
 * that an object that moves along crosses a line in the direction of `across` from left to right.
 */
export interface Axes {
  along: Vector
  across: Vector
}

export const createAxes = (along: Vector): Axes => ({ along, across: { x: along.y, y: -along.x } })

/** A path in the axes of a road: distances along and across it. */
export interface ProjectedPath {
  points: readonly { along: number; across: number }[]
}

export const project = ({ points }: Movement, { along, across }: Axes): ProjectedPath => ({
  points: points.map(point => ({ along: dot(point, along), across: dot(point, across) })),
})

/** The place where a path first passes a station, which is a distance along the road. */
export interface Passage {
  across: number
  /** How far the path was followed on both sides of the station; the shorter of the two. */
  depth: number
  isForward: boolean
}

/** Returns where a path passes a station, or undefined if it does not reach it. */
export function findPassage({ points }: ProjectedPath, station: number): Passage | undefined {
  const first = points[0]!
  const last = points.at(-1)!
  for (let i = 1; i < points.length; i += 1) {
    const from = points[i - 1]!
    const to = points[i]!
    if (from.along < station === to.along < station) continue
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
 * Returns the part of the line from `across` = `from` to `to` at a station that is inside the
 * picture, from 0 to 1. Returns undefined if it is too short.
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

/** The range of t for which `origin + t * step` is between 0 and `size`. It is empty if no t is. */
function clipRange(origin: number, step: number, size: number): { from: number; to: number } {
  if (Math.abs(step) < Number.EPSILON) {
    const isInside = origin >= 0 && origin <= size
    return isInside ? { from: -Infinity, to: Infinity } : { from: Infinity, to: -Infinity }
  }
  const bounds = [-origin / step, (size - origin) / step]
  return { from: Math.min(...bounds), to: Math.max(...bounds) }
}

/** Rounds to a thousandth of the picture, which is as precise as a person draws. */
const toShare = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000
