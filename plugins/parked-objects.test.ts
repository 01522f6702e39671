import type { BBox, DetectedObject, EventData } from '@eyrie/element'
import { createRandom, createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import zones from './detect-zone-intersection/element.ts'
import lines from './line-crossing/element.ts'
import tracking from './object-tracking/element.ts'
import trackingOH from './object-tracking-oh/element.ts'

const fps = 5
const ARRIVAL_S = 6
const PARKED_S = 600
const size = { w: 0.2, h: 0.12 }
/** The car stops with its foot on the line, and at the edge of the zone. */
const line = [
  { x: 0.6, y: 0.3 },
  { x: 0.6, y: 0.9 },
]
const zone = [
  { x: 0.5, y: 0.3 },
  { x: 1, y: 0.3 },
  { x: 1, y: 0.9 },
  { x: 0.5, y: 0.9 },
]

/** Returns the car at a time: it comes from the left and parks. */
function getBox(seconds: number): BBox {
  const arrived = Math.min(1, seconds / ARRIVAL_S)
  return { x: 0.05 + 0.45 * arrived, y: 0.5, ...size }
}

/**
 * Simulates a detector with box noise of 3 %, 10 % missed detections, and people who hide the car
 * for up to two seconds.
 */
function detect(
  seconds: number,
  { uniform, gauss }: ReturnType<typeof createRandom>,
): DetectedObject[] {
  const isHidden = seconds > ARRIVAL_S && seconds % 20 > 18.2
  if (isHidden || uniform() < 0.1) return []
  const { x, y, w, h } = getBox(seconds)
  const bbox = {
    x: x + 0.03 * w * gauss(),
    y: y + 0.03 * h * gauss(),
    w: w * (1 + 0.03 * gauss()),
    h: h * (1 + 0.03 * gauss()),
  }
  return [{ class: 'car', score: 0.3 + 0.6 * uniform(), bbox }]
}

const trackers = { ...tracking, ...trackingOH }
const trackerNames = Object.keys(trackers) as (keyof typeof trackers)[]
const cases = trackerNames.flatMap(name => [1, 2, 3].map(seed => [name, seed] as const))

describe('an object that parks at the edge of a zone and on a line', () => {
  it.each(cases)(
    'enters once and crosses at most once in ten minutes, with %s (seed %i)',
    async (name, seed) => {
      const random = createRandom(seed)
      const tracker = await openElement(trackers[name])
      const crossing = await openElement(lines['line-crossing'], {
        config: { 1: { lines: [{ name: 'line', coords: line }] } },
      })
      const visits = await openElement(zones['detect-zone-intersection'], {
        config: { zones: [{ name: 'bay', coords: zone }] },
      })
      const stream = createStream(fps)
      const events: EventData[] = []
      for (let n = 0; n < (ARRIVAL_S + PARKED_S) * fps; n += 1) {
        const frame = stream.next(detect(n / fps, random))
        const tracked = await tracker.process(frame)
        const next = { ...frame, objects: tracked.objects ?? [] }
        for (const element of [crossing, visits]) {
          events.push(...((await element.process(next)).events ?? []))
        }
      }
      const types = events.map(({ type }) => type)
      expect(types.filter(type => type !== 'line-crossing')).toEqual(['zone-enter'])
      expect(types.filter(type => type === 'line-crossing').length).toBeLessThanOrEqual(1)
    },
  )
})
