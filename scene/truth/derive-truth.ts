import type { RenderedObject } from '../picture/painter.ts'
import {
  type Outline,
  SCENE_VERSION,
  type SceneTruth,
  type TruthFrame,
  type TruthObject,
} from './scene-truth.ts'

// This geometry is deliberately not shared with the plugins, because end-to-end tests compare their counts with it.

type Point = Outline['coords'][number]
type Box = TruthObject['bbox']

/** Share of a bounding box, at its lower end, that represents the object on the ground. */
const FOOT_SHARE = 0.25
/** Maximum distance between a car's center and a person in a near miss, in metres. */
const NEAR_MISS_M = 2
/** Minimum speed of the car in a near miss, in metres per second. */
const MIN_CAR_SPEED_MPS = 2

/** Converts a rendered frame of `width` × `height` pixels to its ground truth, rounded for compact storage. */
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

/** Returns the ground truth of a scene: its frames, and the crossings, visits and near misses in them. */
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

/** Finds every crossing of a line by the foot of an object. Seen along the line, the direction from left to right is `up`. */
export function findCrossings(line: Outline, frames: readonly TruthFrame[]): SceneTruth['crossings'] {
  const crossings: SceneTruth['crossings'] = []
  const lastPositions = new Map<number, Point>()
  for (const { n, objects } of frames)
    for (const { track, class: objectClass, bbox } of objects) {
      const position = getCenter(getFootBox(bbox))
      const previous = lastPositions.get(track)
      lastPositions.set(track, position)
      if (!previous) continue
      for (let i = 0; i + 1 < line.coords.length; i++) {
        const direction = crossSegment(line.coords[i]!, line.coords[i + 1]!, previous, position)
        if (direction) crossings.push({ line: line.name, frame: n, track, class: objectClass, direction })
      }
    }
  return crossings
}

/** Finds every visit to a zone. An object is inside while at least half of its foot box is inside. */
export function findVisits(zone: Outline, frames: readonly TruthFrame[], fps: number): SceneTruth['visits'] {
  const visits: SceneTruth['visits'] = []
  const ongoing = new Map<number, SceneTruth['visits'][number]>()
  for (const { n, objects } of frames) {
    const inside = objects.filter(({ bbox }) => computeOverlapShare(getFootBox(bbox), zone.coords) >= 0.5)
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
  for (const visit of visits)
    visit.dwell_s = ((visit.exit_frame ?? frames.at(-1)!.n + 1) - visit.enter_frame) / fps
  return visits
}

/** Finds near misses: for each moving car and each person close to it, the frame in which they are closest. */
export function findNearMisses(frames: readonly TruthFrame[], fps: number): SceneTruth['near_misses'] {
  const closest = new Map<string, SceneTruth['near_misses'][number]>()
  const lastCars = new Map<number, TruthObject>()
  for (const { n, objects } of frames) {
    const people = objects.filter(object => object.class === 'person')
    for (const car of objects.filter(object => object.class === 'car')) {
      const previous = lastCars.get(car.track)
      lastCars.set(car.track, car)
      if (!previous || getDistance(previous.ground, car.ground) * fps < MIN_CAR_SPEED_MPS) continue
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
  clipped = clip(clipped, p => p.x - x)
  clipped = clip(clipped, p => x + w - p.x)
  clipped = clip(clipped, p => p.y - y)
  clipped = clip(clipped, p => y + h - p.y)
  return computeArea(clipped) / (w * h)
}

/** Clips a polygon to the half-plane where `insideDistance` is positive (Sutherland and Hodgman 1974). */
function clip(polygon: readonly Point[], insideDistance: (p: Point) => number): Point[] {
  return polygon.flatMap((p, i) => {
    const previous = polygon.at(i - 1)!
    const [from, to] = [insideDistance(previous), insideDistance(p)]
    const t = from / (from - to)
    const intersection = { x: previous.x + (p.x - previous.x) * t, y: previous.y + (p.y - previous.y) * t }
    if (to < 0) return from < 0 ? [] : [intersection]
    return from < 0 ? [intersection, p] : [p]
  })
}

/** Returns the area of a polygon (shoelace formula). */
function computeArea(polygon: readonly Point[]): number {
  let twice = 0
  polygon.forEach((p, i) => {
    const previous = polygon.at(i - 1)!
    twice += previous.x * p.y - p.x * previous.y
  })
  return Math.abs(twice) / 2
}

/** Returns the direction in which the step from `p` to `q` crosses the segment from `a` to `b`, or null. */
function crossSegment(a: Point, b: Point, p: Point, q: Point): 'up' | 'down' | null {
  const before = crossProduct(a, b, p) > 0
  const after = crossProduct(a, b, q) > 0
  if (before === after || crossProduct(p, q, a) > 0 === crossProduct(p, q, b) > 0) return null
  return after ? 'up' : 'down'
}

/** Positive if `p` is to the right of the line from `a` to `b` (y points down). */
function crossProduct(a: Point, b: Point, p: Point): number {
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

function round(x: number, factor: number): number {
  return Math.round(x * factor) / factor
}
