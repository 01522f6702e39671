import type { BBox, Counters, DetectedObject, EventData } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import plugin from './element.ts'

const zoneIntersection = plugin['detect-zone-intersection']

const rectangle = (name: string, left: number, right: number) => ({
  name,
  coords: [
    { x: left, y: 0.2 },
    { x: right, y: 0.2 },
    { x: right, y: 0.8 },
    { x: left, y: 0.8 },
  ],
})
const kerb = rectangle('kerb', 0.4, 0.6)

/** A person at mid-height, 0.1 wide, centered at x. */
const person = (x: number, track?: number): DetectedObject => ({
  class: 'person',
  score: 0.9,
  bbox: { x: x - 0.05, y: 0.4, w: 0.1, h: 0.2 },
  track,
})

const inside = 0.5
const mostlyInside = 0.4
const mostlyOutside = 0.385
const outside = 0.3

/** Runs the element over frames, by default at 10 fps. */
async function run(
  frames: DetectedObject[][],
  { args = {}, zones = [kerb], fps = 10 }: { args?: object; zones?: object[]; fps?: number } = {},
) {
  const element = await openElement(zoneIntersection, { args, config: { zones } })
  const stream = createStream(fps)
  const events: EventData[] = []
  let objects: DetectedObject[] = []
  let counters: Counters = {}
  for (const detections of frames) {
    const result = await element.process(stream.next(detections))
    events.push(...(result.events ?? []))
    objects = result.objects ?? []
    counters = result.counters ?? {}
  }
  return { events, objects, counters }
}

const repeat = (frames: number, x: number, track = 1) =>
  Array.from({ length: frames }, () => [person(x, track)])
const empty = (frames: number): DetectedObject[][] => Array.from({ length: frames }, () => [])

describe('detect-zone-intersection', () => {
  it('reports the start, the end and the duration of a visit', async () => {
    const { events, counters } = await run([
      ...repeat(5, outside),
      ...repeat(20, inside),
      ...repeat(1, outside),
    ])
    const visitor = { name: 'kerb', track: 1, class: 'person' }
    expect(events).toEqual([
      { type: 'zone-enter', ...visitor, bbox: person(inside).bbox },
      { type: 'zone-exit', ...visitor, bbox: person(outside).bbox, dwell_time: 2 },
    ])
    expect(counters).toEqual({ kerb: { occupancy: 0, total: 1, dwell_time: 2 } })
  })

  it('returns counters of all zones from the first frame on', async () => {
    const zero = { occupancy: 0, total: 0, dwell_time: 0 }
    const { counters } = await run([[]], { zones: [kerb, rectangle('road', 0, 0.2)] })
    expect(counters).toEqual({ kerb: zero, road: zero })
  })

  it('reports current visitors, all visits and the mean duration of completed visits', async () => {
    const { counters } = await run([
      ...Array.from({ length: 10 }, () => [person(0.45, 1), person(0.55, 2)]),
      ...Array.from({ length: 10 }, () => [person(outside, 1), person(0.55, 2)]),
      [person(outside, 1), person(outside, 2)],
      [person(0.45, 1)],
    ])
    expect(counters).toEqual({ kerb: { occupancy: 1, total: 3, dwell_time: 1.5 } })
  })

  it('adds the names of its zones to an object', async () => {
    const both = [kerb, rectangle('square', 0, 1), rectangle('road', 0, 0.2)]
    const waiting = { ...person(inside, 1), attributes: { colour: 'red' } }
    const { objects } = await run([[waiting, person(0.9, 2)]], { zones: both })
    expect(objects[0]?.attributes).toEqual({ colour: 'red', zones: ['kerb', 'square'] })
    expect(objects[1]?.attributes).toEqual({ zones: ['square'] })
    expect((await run([[person(outside, 1)]])).objects).toEqual([person(outside, 1)])
  })

  it('adds the names of its zones after those of an earlier element', async () => {
    const seen = { ...person(inside, 1), attributes: { zones: ['hall', 'kerb'] } }
    expect((await run([[seen]])).objects[0]?.attributes).toEqual({ zones: ['hall', 'kerb'] })
    const square = [rectangle('square', 0, 1)]
    const { objects } = await run([[seen]], { zones: square })
    expect(objects[0]?.attributes).toEqual({ zones: ['hall', 'kerb', 'square'] })
  })

  it('counts an object that is in both halves of a zone which crosses itself', async () => {
    // The lower corners are in the wrong order.
    const [topLeft, topRight, bottomRight, bottomLeft] = kerb.coords
    const bowTie = { name: 'kerb', coords: [topLeft, topRight, bottomLeft, bottomRight] }
    const large = { ...person(inside, 1), bbox: { x: 0.45, y: 0.3, w: 0.1, h: 0.4 } }
    const { counters, events } = await run([[large]], { zones: [bowTie], args: { region: 'box' } })
    expect(counters.kerb?.occupancy).toBe(1)
    expect(events.map(({ type }) => type)).toEqual(['zone-enter'])
  })

  it('counts an object as inside if at least half of its region is', async () => {
    expect((await run([[person(0.401, 1)]])).counters.kerb?.occupancy).toBe(1)
    expect((await run([[person(0.399, 1)]])).counters.kerb?.occupancy).toBe(0)
  })

  it.each([
    ['bottom', 0.7],
    ['top', 0.1],
    ['box', 0.5],
  ] as const)('locates an object by its region %s', async (region, y) => {
    // The box spans 0.1 to 0.9, so its regions are in different zones.
    const tall: BBox = { x: 0.45, y: 0.1, w: 0.1, h: 0.8 }
    const band = {
      name: 'band',
      coords: [
        { x: 0, y: y - 0.001 },
        { x: 1, y: y - 0.001 },
        { x: 1, y: Math.min(1, y + 0.4) },
        { x: 0, y: Math.min(1, y + 0.4) },
      ],
    }
    const { counters } = await run([[{ ...person(0, 1), bbox: tall }]], {
      args: { region },
      zones: [band],
    })
    expect(counters.band?.occupancy).toBe(1)
  })

  it('counts hovering at the edge as one visit', async () => {
    const hover = Array.from({ length: 40 }, (_, i) => [
      person(i % 2 === 0 ? mostlyInside + 0.005 : mostlyOutside, 1),
    ])
    const { counters, events } = await run(hover)
    expect(counters.kerb?.total).toBe(1)
    expect(events.map(({ type }) => type)).toEqual(['zone-enter'])
  })

  it('ends a visit after two seconds mostly outside, at the first frame outside', async () => {
    const { events, counters } = await run([...repeat(11, inside), ...repeat(30, mostlyOutside)])
    expect(events.at(-1)).toMatchObject({ type: 'zone-exit', dwell_time: 1.1 })
    expect(counters.kerb?.occupancy).toBe(0)
  })

  it('ends the visit of an object that leaves slowly at the first frame outside', async () => {
    const { events } = await run([
      ...repeat(10, inside),
      ...repeat(5, mostlyOutside),
      ...repeat(1, outside),
    ])
    expect(events.at(-1)).toMatchObject({ type: 'zone-exit', dwell_time: 1 })
  })

  it('continues a visit while the object is occluded for up to two seconds', async () => {
    const { events } = await run([...repeat(5, inside), ...empty(19), ...repeat(5, inside)])
    expect(events.map(({ type }) => type)).toEqual(['zone-enter'])
  })

  it('continues a visit over frames that are more than two seconds apart', async () => {
    const { events, counters } = await run([...repeat(4, inside), ...repeat(1, outside)], {
      fps: 0.2,
    })
    expect(events.map(({ type, dwell_time }) => [type, dwell_time])).toEqual([
      ['zone-enter', undefined],
      ['zone-exit', 20],
    ])
    expect(counters).toEqual({ kerb: { occupancy: 0, total: 1, dwell_time: 20 } })
    const hovering = await run([...repeat(1, inside), ...repeat(2, mostlyOutside)], { fps: 0.2 })
    expect(hovering.events.at(-1)).toMatchObject({ type: 'zone-exit', dwell_time: 5 })
  })

  it('ends the visit of a lost object at the last frame inside', async () => {
    const { events, counters } = await run([...repeat(11, inside), ...empty(21)])
    expect(events.at(-1)).toMatchObject({ type: 'zone-exit', track: 1, dwell_time: 1 })
    expect(counters).toEqual({ kerb: { occupancy: 0, total: 1, dwell_time: 1 } })
  })

  it('ends all visits at a discontinuity', async () => {
    const element = await openElement(zoneIntersection, { config: { zones: [kerb] } })
    const stream = createStream(10)
    for (let i = 0; i < 11; i++) await element.process(stream.next([person(inside, 1)]))
    const { events, counters } = await element.process(
      stream.next([], { skip: 500, discontinuity: true }),
    )
    expect(events).toMatchObject([{ type: 'zone-exit', track: 1, dwell_time: 1 }])
    expect(counters?.kerb?.occupancy).toBe(0)
  })

  it('reports a visit that exceeds max_dwell_time, and again after each further such period', async () => {
    const { events } = await run([...repeat(36, inside), ...repeat(1, outside)], {
      zones: [{ ...kerb, max_dwell_time: 1.5 }],
    })
    const dwell = {
      type: 'dwell',
      name: 'kerb',
      track: 1,
      class: 'person',
      bbox: person(inside).bbox,
    }
    expect(events.slice(1, -1)).toEqual([
      { ...dwell, dwell_time: 1.6 },
      { ...dwell, dwell_time: 3.1 },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'zone-exit', dwell_time: 3.6 })
  })

  it('reports an object that stays too long while it is occluded once, when it is detected again', async () => {
    const frames = [...repeat(5, inside), ...empty(19), ...repeat(2, inside)]
    const { events } = await run(frames, { zones: [{ ...kerb, max_dwell_time: 0.5 }] })
    expect(events.map(({ type, dwell_time }) => [type, dwell_time])).toEqual([
      ['zone-enter', undefined],
      ['dwell', 2.4],
    ])
  })

  it('counts objects without a track in the occupancy only', async () => {
    const { counters, events } = await run([[person(0.45), person(0.55), person(outside)]])
    expect(counters).toEqual({ kerb: { occupancy: 2, total: 0, dwell_time: 0 } })
    expect(events).toEqual([])
  })

  it('exposes the zones as metadata', async () => {
    expect((await openElement(zoneIntersection, { config: { zones: [kerb] } })).metadata).toEqual({
      zones: [kerb],
    })
    expect((await openElement(zoneIntersection)).metadata).toEqual({ zones: [] })
  })

  it.each([
    { zones: [kerb, kerb] },
    { zones: [{ name: 'kerb', coords: kerb.coords.slice(2) }] },
    { zones: [{ name: 'kerb', coords: [...kerb.coords, { x: 1.5, y: 0 }] }] },
    { 1: { zones: [kerb] } },
  ])('rejects the config %o', config => {
    expect(zoneIntersection.config?.safeParse(config).success).toBe(false)
  })
})
