import { describe, expect, it } from 'vitest'
import { computeOverlapShare, findCrossings, findNearMisses, findVisits } from './derive-truth.ts'
import type { TruthFrame, TruthObject } from './scene-truth.ts'

const FPS = 10

/**
 * Frames in which the foot (the centre of the lowest quarter) of one object is at the given points.
 */
function path(points: [x: number, y: number][], track = 1): TruthFrame[] {
  return points.map(([x, y], n) => ({ n, objects: [objectAt(x, y, track)] }))
}

function objectAt(x: number, y: number, track: number): TruthObject {
  const [w, h] = [0.02, 0.08]
  const bbox = { x: x - w / 2, y: y - h * 0.875, w, h }
  return { track, class: 'person', bbox, visibility: 1, foot: { x, y }, ground: { x: 0, y: 0 } }
}

const upwards = {
  name: 'line',
  coords: [
    { x: 0.5, y: 0.9 },
    { x: 0.5, y: 0.1 },
  ],
}
const zone = {
  name: 'zone',
  coords: [
    { x: 0.4, y: 0.4 },
    { x: 0.6, y: 0.4 },
    { x: 0.6, y: 0.6 },
    { x: 0.4, y: 0.6 },
  ],
}

describe('scene truth', () => {
  it('reports a crossing from left to right as up', () => {
    expect(
      findCrossings(
        upwards,
        path([
          [0.45, 0.5],
          [0.55, 0.5],
        ]),
      ),
    ).toEqual([{ line: 'line', frame: 1, track: 1, class: 'person', direction: 'up' }])
  })

  it('reports a crossing from right to left as down', () => {
    const [crossing] = findCrossings(
      upwards,
      path([
        [0.55, 0.5],
        [0.45, 0.5],
      ]),
    )
    expect(crossing?.direction).toBe('down')
  })

  it('swaps the directions if the line is reversed', () => {
    const downwards = { ...upwards, coords: upwards.coords.toReversed() }
    const [crossing] = findCrossings(
      downwards,
      path([
        [0.45, 0.5],
        [0.55, 0.5],
      ]),
    )
    expect(crossing?.direction).toBe('down')
  })

  it('ignores passing beyond the ends of the line', () => {
    expect(
      findCrossings(
        upwards,
        path([
          [0.45, 0.95],
          [0.55, 0.95],
        ]),
      ),
    ).toEqual([])
  })

  it('does not connect positions of different objects', () => {
    const frames = [
      { n: 0, objects: [objectAt(0.45, 0.5, 1)] },
      { n: 1, objects: [objectAt(0.55, 0.5, 2)] },
    ]
    expect(findCrossings(upwards, frames)).toEqual([])
  })

  it('reports a visit while at least half of the foot box is in the zone', () => {
    const frames = path([
      [0.35, 0.5],
      [0.399, 0.5],
      [0.401, 0.5],
      [0.5, 0.5],
      [0.601, 0.5],
    ])
    expect(findVisits(zone, frames, FPS)).toEqual([
      { zone: 'zone', track: 1, class: 'person', enter_frame: 2, exit_frame: 4, dwell_s: 0.2 },
    ])
  })

  it('reports a visit without an exit if the object is inside at the end', () => {
    const [visit] = findVisits(
      zone,
      path([
        [0.35, 0.5],
        [0.5, 0.5],
        [0.5, 0.5],
      ]),
      FPS,
    )
    expect(visit).toMatchObject({ enter_frame: 1, exit_frame: null, dwell_s: 0.2 })
  })

  it('reports two visits of an object that leaves and returns', () => {
    expect(
      findVisits(
        zone,
        path([
          [0.5, 0.5],
          [0.7, 0.5],
          [0.5, 0.5],
        ]),
        FPS,
      ),
    ).toHaveLength(2)
  })

  it('computes the share of a box inside a polygon', () => {
    const triangle = [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
      { x: 0, y: 1 },
    ]
    expect(computeOverlapShare({ x: 0, y: 0, w: 1, h: 1 }, triangle)).toBeCloseTo(0.5)
    expect(computeOverlapShare({ x: 0.6, y: 0.6, w: 0.2, h: 0.2 }, triangle)).toBe(0)
    expect(computeOverlapShare({ x: 0.1, y: 0.1, w: 0.2, h: 0.2 }, triangle)).toBeCloseTo(1)
  })

  it('reports a near miss in the frame in which a moving car is closest to a person', () => {
    const car = (x: number): TruthObject => ({
      ...objectAt(0.5, 0.5, 9),
      class: 'car',
      ground: { x, y: 0 },
    })
    const person = { ...objectAt(0.5, 0.5, 1), ground: { x: 2, y: 1 } }
    const frames = [0, 1, 2, 3, 4].map(n => ({ n, objects: [car(n), person] }))
    expect(findNearMisses(frames, FPS)).toEqual([{ frame: 2, tracks: [9, 1], distance_m: 1 }])
  })

  it('reports no near miss with a parked car', () => {
    const car: TruthObject = { ...objectAt(0.5, 0.5, 9), class: 'car', ground: { x: 2, y: 0 } }
    const frames = [0, 1, 2].map(n => ({
      n,
      objects: [car, { ...objectAt(0.5, 0.5, 1), ground: { x: n, y: 1 } }],
    }))
    expect(findNearMisses(frames, FPS)).toEqual([])
  })
})
