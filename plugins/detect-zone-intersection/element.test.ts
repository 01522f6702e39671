import type { BBox, Counters, DetectedObject, EventData } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { expect, test } from 'vitest'
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

/** Somebody at half height, as wide as a tenth of the picture, whose middle is at x. */
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

/** Runs an element over frames, ten a second. */
async function run(
  frames: DetectedObject[][],
  { args = {}, zones = [kerb] }: { args?: object; zones?: object[] } = {},
) {
  const element = await openElement(zoneIntersection, { args, config: { zones } })
  const stream = createStream(10)
  const events: EventData[] = []
  let objects: DetectedObject[] = []
  let counters: Counters = {}
  for (const seen of frames) {
    const result = await element.process(stream.next(seen))
    events.push(...(result.events ?? []))
    objects = result.objects ?? []
    counters = result.counters ?? {}
  }
  return { events, objects, counters }
}

const stay = (frames: number, x: number, track = 1) =>
  Array.from({ length: frames }, () => [person(x, track)])
const nobody = (frames: number): DetectedObject[][] => Array.from({ length: frames }, () => [])

test('a visit has a beginning, an end and a duration', async () => {
  const { events, counters } = await run([...stay(5, outside), ...stay(20, inside), ...stay(1, outside)])
  const visitor = { name: 'kerb', track: 1, class: 'person' }
  expect(events).toEqual([
    { type: 'zone-enter', ...visitor, bbox: person(inside).bbox },
    { type: 'zone-exit', ...visitor, bbox: person(outside).bbox, dwell_time: 2 },
  ])
  expect(counters).toEqual({ kerb: { occupancy: 0, total: 1, dwell_time: 2 } })
})

test('every zone is counted from the first frame on, with zeros', async () => {
  const zero = { occupancy: 0, total: 0, dwell_time: 0 }
  const { counters } = await run([[]], { zones: [kerb, rectangle('road', 0, 0.2)] })
  expect(counters).toEqual({ kerb: zero, road: zero })
})

test('occupancy is who is inside now, total who ever came, dwell_time the mean of the visits that ended', async () => {
  const { counters } = await run([
    ...Array.from({ length: 10 }, () => [person(0.45, 1), person(0.55, 2)]),
    ...Array.from({ length: 10 }, () => [person(outside, 1), person(0.55, 2)]),
    [person(outside, 1), person(outside, 2)],
    [person(0.45, 1)],
  ])
  expect(counters).toEqual({ kerb: { occupancy: 1, total: 3, dwell_time: 1.5 } })
})

test('an object inside is told the zones that it is in', async () => {
  const both = [kerb, rectangle('square', 0, 1), rectangle('road', 0, 0.2)]
  const waiting = { ...person(inside, 1), attributes: { colour: 'red' } }
  const { objects } = await run([[waiting, person(0.9, 2)]], { zones: both })
  expect(objects[0]?.attributes).toEqual({ colour: 'red', zones: ['kerb', 'square'] })
  expect(objects[1]?.attributes).toEqual({ zones: ['square'] })
  expect((await run([[person(outside, 1)]])).objects).toEqual([person(outside, 1)])
})

test('half of the part is inside, less is not', async () => {
  expect((await run([[person(0.401, 1)]])).counters.kerb?.occupancy).toBe(1)
  expect((await run([[person(0.399, 1)]])).counters.kerb?.occupancy).toBe(0)
})

test.each([
  ['bottom', 0.7],
  ['top', 0.1],
  ['box', 0.5],
] as const)('region %s decides where the object is', async (region, y) => {
  // A box from 0.1 to 0.9 whose parts lie in different zones.
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
  const { counters } = await run([[{ ...person(0, 1), bbox: tall }]], { args: { region }, zones: [band] })
  expect(counters.band?.occupancy).toBe(1)
})

test('somebody who hovers at the edge makes one visit', async () => {
  const hover = Array.from({ length: 40 }, (_, i) => [
    person(i % 2 === 0 ? mostlyInside + 0.005 : mostlyOutside, 1),
  ])
  const { counters, events } = await run(hover)
  expect(counters.kerb?.total).toBe(1)
  expect(events.map(({ type }) => type)).toEqual(['zone-enter'])
})

test('somebody who stays mostly outside has left after two seconds, at the first frame outside', async () => {
  const { events, counters } = await run([...stay(11, inside), ...stay(30, mostlyOutside)])
  expect(events.at(-1)).toMatchObject({ type: 'zone-exit', dwell_time: 1.1 })
  expect(counters.kerb?.occupancy).toBe(0)
})

test('somebody who leaves slowly was there until the first frame outside', async () => {
  const { events } = await run([...stay(10, inside), ...stay(5, mostlyOutside), ...stay(1, outside)])
  expect(events.at(-1)).toMatchObject({ type: 'zone-exit', dwell_time: 1 })
})

test('a visitor who is covered for up to two seconds has not left', async () => {
  const { events } = await run([...stay(5, inside), ...nobody(19), ...stay(5, inside)])
  expect(events.map(({ type }) => type)).toEqual(['zone-enter'])
})

test('a visitor who is not seen any more has left at the last frame inside', async () => {
  const { events, counters } = await run([...stay(11, inside), ...nobody(21)])
  expect(events.at(-1)).toMatchObject({ type: 'zone-exit', track: 1, dwell_time: 1 })
  expect(counters).toEqual({ kerb: { occupancy: 0, total: 1, dwell_time: 1 } })
})

test('an interruption of the stream ends all visits', async () => {
  const element = await openElement(zoneIntersection, { config: { zones: [kerb] } })
  const stream = createStream(10)
  for (let i = 0; i < 11; i++) await element.process(stream.next([person(inside, 1)]))
  const { events, counters } = await element.process(stream.next([], { skip: 500, discontinuity: true }))
  expect(events).toMatchObject([{ type: 'zone-exit', track: 1, dwell_time: 1 }])
  expect(counters?.kerb?.occupancy).toBe(0)
})

test('objects without a track occupy a zone and are no visitors', async () => {
  const { counters, events } = await run([[person(0.45), person(0.55), person(outside)]])
  expect(counters).toEqual({ kerb: { occupancy: 2, total: 0, dwell_time: 0 } })
  expect(events).toEqual([])
})

test('the zones are shown with the channel', async () => {
  expect((await openElement(zoneIntersection, { config: { zones: [kerb] } })).metadata).toEqual({
    zones: [kerb],
  })
  expect((await openElement(zoneIntersection)).metadata).toEqual({ zones: [] })
})

test.each([
  { zones: [kerb, kerb] },
  { zones: [{ name: 'kerb', coords: kerb.coords.slice(2) }] },
  { zones: [{ name: 'kerb', coords: [...kerb.coords, { x: 1.5, y: 0 }] }] },
  { 1: { zones: [kerb] } },
])('refuses the config %o', config => {
  expect(zoneIntersection.config?.safeParse(config).success).toBe(false)
})
