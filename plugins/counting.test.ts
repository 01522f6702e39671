import type { BBox, DetectedObject } from '@eyrie/element'
import { createRandom, createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import zones from './detect-zone-intersection/element.ts'
import lines from './line-crossing/element.ts'
import tracking from './object-tracking/element.ts'
import trackingOH from './object-tracking-oh/element.ts'

const fps = 12.5
const size = { w: 0.05, h: 0.18 }

interface Walker {
  /** Downwards from above the picture (+1) or upwards from below it (−1). */
  direction: 1 | -1
  x: number
  start: number
  speed: number
}

/** Creates 24 people who cross the picture in one of six lanes, one every two to three seconds. */
function createWalkers({ uniform }: ReturnType<typeof createRandom>): Walker[] {
  return Array.from({ length: 24 }, (_, i) => ({
    direction: uniform() < 0.5 ? 1 : -1,
    x: 0.15 + 0.14 * Math.floor(6 * uniform()),
    start: 2.5 * i + uniform(),
    speed: 0.1 + 0.08 * uniform(),
  }))
}

/** Returns the part of a walker inside the picture, or undefined if it is too small to detect. */
function getVisibleBox({ direction, x, start, speed }: Walker, seconds: number): BBox | undefined {
  const distance = speed * (seconds - start)
  const foot = direction > 0 ? distance : 1 + size.h - distance
  const top = Math.max(0, foot - size.h)
  const h = Math.min(1, foot) - top
  return h < 0.04 ? undefined : { x: x - size.w / 2, y: top, w: size.w, h }
}

/**
 * Simulates a detector with box noise of 3 %, 10 % missed detections and occasional false
 * positives.
 */
function detect(
  boxes: BBox[],
  { uniform, gauss }: ReturnType<typeof createRandom>,
): DetectedObject[] {
  const detections = boxes
    .filter(() => uniform() > 0.1)
    .map(({ x, y, w, h }) => ({
      class: 'person',
      score: 0.3 + 0.6 * uniform(),
      bbox: {
        x: x + 0.03 * w * gauss(),
        y: y + 0.03 * h * gauss(),
        w: w * (1 + 0.03 * gauss()),
        h: h * (1 + 0.03 * gauss()),
      },
    }))
  const falsePositive = {
    class: 'person',
    score: 0.5,
    bbox: { x: 0.9 * uniform(), y: 0.8 * uniform(), ...size },
  }
  return uniform() < 0.05 ? [...detections, falsePositive] : detections
}

const acrossTheMiddle = [
  { x: 0, y: 0.55 },
  { x: 1, y: 0.55 },
]
const middleThird = [
  { x: 0, y: 0.4 },
  { x: 1, y: 0.4 },
  { x: 1, y: 0.75 },
  { x: 0, y: 0.75 },
]

const trackers = { ...tracking, ...trackingOH }
const trackerNames = Object.keys(trackers) as (keyof typeof trackers)[]
const cases = trackerNames.flatMap(name =>
  [2, 3, 4, 5, 6, 7, 8, 9].map(seed => [name, seed] as const),
)

describe('counting people behind a noisy detector', () => {
  it.each(cases)('counts every person once with %s (seed %i)', async (name, seed) => {
    const random = createRandom(seed)
    const walkers = createWalkers(random)
    const tracker = await openElement(trackers[name])
    const line = await openElement(lines['line-crossing'], {
      config: { 1: { lines: [{ name: 'middle', coords: acrossTheMiddle }] } },
    })
    const zone = await openElement(zones['detect-zone-intersection'], {
      config: { zones: [{ name: 'square', coords: middleThird }] },
    })

    const stream = createStream(fps)
    let crossed = {}
    let visited = {}
    for (let seconds = 0; seconds < 75; seconds += 1 / fps) {
      const boxes = walkers
        .map(walker => getVisibleBox(walker, seconds))
        .filter(box => box !== undefined)
      const frame = stream.next(detect(boxes, random))
      const { objects = [] } = await tracker.process(frame)
      crossed = (await line.process({ ...frame, objects })).counters!.middle!
      visited = (await zone.process({ ...frame, objects })).counters!.square!
    }

    const down = walkers.filter(({ direction }) => direction > 0).length
    const up = walkers.length - down
    expect(crossed).toEqual({ up: down, down: up, total: walkers.length })
    expect(visited).toMatchObject({ occupancy: 0, total: walkers.length })
  })
})
