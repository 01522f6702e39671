import type { RenderedObject } from '../picture/painter.ts'
import {
  type Outline,
  SCENE_VERSION,
  type SceneTruth,
  type TruthFrame,
  type TruthObject,
} from './scene-truth.ts'

// This file derives what happens in a scene. Its geometry is deliberately not shared with the
// plugins, because end-to-end tests compare their counts with it.

type Point = Outline['coords'][number]
type Box = TruthObject['bbox']

/** Share of a bounding box, at its lower end, that represents the object on the ground. */
const FOOT_SHARE = 0.25
/** An object is inside a zone while at least this share of its foot box is inside. */
const MIN_INSIDE_SHARE = 0.5
/** Maximum distance between a car's center and a person in a near miss, in metres. */
const NEAR_MISS_M = 2
/** Minimum speed of the car in a near miss, in metres per second. */
const MIN_CAR_SPEED_MPS = 2

/**
 * Converts a rendered frame of `width` × `height` pixels to its ground truth, rounded
 * for compact storage.
 */
export function toTruthFrame(
  { n, objects }: { n: number; objects: readonly RenderedObject[] },
  width: number,
  height: number,
): TruthFrame {
  const toShare = (x: number): number => round(x, 1e5)
  return {
    n,
    objects: objects
      .filter(({ bounds }) => bounds.right > bounds.left && bounds.bottom > bounds.top)
      .map(({ track, class: objectClass, bounds, visibility, foot, ground }) => ({
        track,
        class: objectClass,
        bbox: {
          x: toShare(bounds.left / width),
          y: toShare(bounds.top / height),
          w: toShare((bounds.right - bounds.left) / width),
          h: toShare((bounds.bottom - bounds.top) / height),
        },
        visibility: round(visibility, 1e3),
        foot: { x: toShare(foot[0] / width), y: toShare(foot[1] / height) },
        ground: { x: round(ground[0], 1e3), y: round(ground[1], 1e3) },
      })),
  }
}

/**
 * Returns the ground truth of a scene: its frames, and the crossings, visits and
 * near misses in them.
 */
export function assembleTruth(
  scene: { seed: number; width: number; height: number; fps: number },
  frames: TruthFrame[],
  { lines, zones }: { lines: Outline[]; zones: Outline[] },
): SceneTruth {
  return {
    version: SCENE_VERSION,
    ...scene,
    frames,
    lines,
    zones,
    crossings: lines.flatMap(line => findCrossings(line, frames)),
    visits: zones.flatMap(zone => findVisits(zone, frames, scene.fps)),
    near_misses: findNearMisses(frames, scene.fps),
  }
}

/**
 * Finds every crossing of a line by the foot of an object. Seen along the line, the direction from
 * left to right is `up`.
 */
export function findCrossings(
  line: Outline,
  frames: readonly TruthFrame[],
): SceneTruth['crossings'] {
  const crossings: SceneTruth['crossings'] = []
  const lastPositions = new Map<number, Point>()
  for (const { n, objects } of frames) {
    for (const { track, class: objectClass, bbox } of objects) {
      const position = getCenter(getFootBox(bbox))
      const previous = lastPositions.get(track)
      lastPositions.set(track, position)
      if (!previous) continue

      for (let i = 0; i + 1 < line.coords.length; i++) {
        const direction = findCrossing(line.coords[i]!, line.coords[i + 1]!, previous, position)
        if (direction) {
          crossings.push({ line: line.name, frame: n, track, class: objectClass, direction })
        }
      }
    }
  }
  return crossings
}

/** Finds every visit to a zone. */
export function findVisits(
  zone: Outline,
  frames: readonly TruthFrame[],
  fps: number,
): SceneTruth['visits'] {
  const visits: SceneTruth['visits'] = []
  const ongoing = new Map<number, SceneTruth['visits'][number]>()
  const isInside = ({ bbox }: TruthObject) =>
    computeOverlapShare(getFootBox(bbox), zone.coords) >= MIN_INSIDE_SHARE

  for (const { n, objects } of frames) {
    const inside = objects.filter(isInside)
    const tracksInside = new Set(inside.map(({ track }) => track))
    for (const [track, visit] of ongoing) {
      if (tracksInside.has(track)) continue
      visit.exit_frame = n
      ongoing.delete(track)
    }
    for (const { track, class: objectClass } of inside) {
      if (ongoing.has(track)) continue
      const visit = {
        zone: zone.name,
        track,
        class: objectClass,
        enter_frame: n,
        exit_frame: null,
        dwell_s: 0,
      }
      ongoing.set(track, visit)
      visits.push(visit)
    }
  }

  for (const visit of visits) {
    const exitFrame = visit.exit_frame ?? frames.at(-1)!.n + 1
    visit.dwell_s = (exitFrame - visit.enter_frame) / fps
  }
  return visits
}

/**
 * Finds near misses: for each moving car and each person close to it, the frame in
 * which they are closest.
 */
export function findNearMisses(
  frames: readonly TruthFrame[],
  fps: number,
): SceneTruth['near_misses'] {
  const closest = new Map<string, SceneTruth['near_misses'][number]>()
  const lastCars = new Map<number, TruthObject>()
  for (const { n, objects } of frames) {
    const people = objects.filter(object => object.class === 'person')
    for (const car of objects.filter(object => object.class === 'car')) {
      const previous = lastCars.get(car.track)
      lastCars.set(car.track, car)
      const isMoving =
        previous && getDistance(previous.ground, car.ground) * fps >= MIN_CAR_SPEED_MPS
      if (!isMoving) continue

      for (const person of people) {
        const key = `${car.track} ${person.track}`
        const distance = getDistance(car.ground, person.ground)
        if (distance >= (closest.get(key)?.distance_m ?? NEAR_MISS_M)) continue
        closest.set(key, { frame: n, tracks: [car.track, person.track], distance_m: distance })
      }
    }
  }
  return [...closest.values()]
}

/** Returns the share of a box that is inside a simple polygon, from 0 to 1. */
export function computeOverlapShare(box: Box, polygon: readonly Point[]): number {
  const { x, y, w, h } = box
  let clipped = [...polygon]
  clipped = clip(clipped, point => point.x - x)
  clipped = clip(clipped, point => x + w - point.x)
  clipped = clip(clipped, point => point.y - y)
  clipped = clip(clipped, point => y + h - point.y)
  return computeArea(clipped) / (w * h)
}

/**
 * Clips a polygon to the half-plane where `insideDistance` is positive (Sutherland and Hodgman
 * 1974).
 */
function clip(polygon: readonly Point[], insideDistance: (point: Point) => number): Point[] {
  return polygon.flatMap((vertex, i) => {
    const previous = polygon.at(i - 1)!
    const from = insideDistance(previous)
    const to = insideDistance(vertex)
    const share = from / (from - to)
    const intersection = {
      x: previous.x + (vertex.x - previous.x) * share,
      y: previous.y + (vertex.y - previous.y) * share,
    }
    if (to < 0) return from < 0 ? [] : [intersection]
    return from < 0 ? [intersection, vertex] : [vertex]
  })
}

/** Returns the area of a polygon (shoelace formula). */
function computeArea(polygon: readonly Point[]): number {
  let doubleArea = 0
  for (const [i, vertex] of polygon.entries()) {
    const previous = polygon.at(i - 1)!
    doubleArea += previous.x * vertex.y - vertex.x * previous.y
  }
  return Math.abs(doubleArea) / 2
}

/**
 * Returns the direction in which the step from `p` to `q` crosses the segment from `a` to `b`; null
 * if it does not cross.
 */
function findCrossing(a: Point, b: Point, p: Point, q: Point): 'up' | 'down' | null {
  const before = computeCrossProduct(a, b, p) > 0
  const after = computeCrossProduct(a, b, q) > 0
  const isBetweenEnds = computeCrossProduct(p, q, a) > 0 !== computeCrossProduct(p, q, b) > 0
  if (before === after || !isBetweenEnds) return null
  return after ? 'up' : 'down'
}

/** Returns a positive number if `p` is to the right of the line from `a` to `b` (y points down). */
function computeCrossProduct(a: Point, b: Point, p: Point): number {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)
}

function getFootBox({ x, y, w, h }: Box): Box {
  return { x, y: y + h * (1 - FOOT_SHARE), w, h: h * FOOT_SHARE }
}

function getCenter({ x, y, w, h }: Box): Point {
  return { x: x + w / 2, y: y + h / 2 }
}

function getDistance(a: Point, b: Point): number {
  return Math.sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y))
}

/** Rounds to a multiple of 1/`factor`. */
function round(x: number, factor: number): number {
  return Math.round(x * factor) / factor
}
