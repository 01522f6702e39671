import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createStream,
  findProblems,
  formatRun,
  openElement,
  runElement,
} from '@eyrie/element/testing'
import plugin from './element.ts'

const leftHalf = [
  { x: 0, y: 0 },
  { x: 0.5, y: 0 },
  { x: 0.5, y: 1 },
  { x: 0, y: 1 },
]
const config = { zones: [{ name: 'left', coords: leftHalf }] }
const personAt = (x: number, track = 1) => ({
  class: 'person',
  score: 0.9,
  track,
  bbox: { x: x - 0.05, y: 0.4, w: 0.1, h: 0.2 },
})

/** Runs the element over frames of ten per second, in which the person is at these places. */
async function run(places: (number | undefined)[], args: object = { seconds: 1 }) {
  const element = await openElement(plugin['dwell-alarm'], { args, config })
  const stream = createStream(10)
  const frames = places.map(x => stream.next(x === undefined ? [] : [personAt(x)]))
  const result = await runElement(element, frames)
  assert.deepEqual(findProblems(result), [])
  return result
}

test('reports a stay once, when it is longer than the limit', async () => {
  const result = await run([0.9, ...Array(30).fill(0.2)])
  assert.equal(result.events.length, 1)
  const { type, name, track, dwell_seconds: dwellSeconds } = result.events[0]!
  assert.deepEqual({ type, name, track }, { type: 'dwell-alarm', name: 'left', track: 1 })
  assert.ok(Number(dwellSeconds) > 1 && Number(dwellSeconds) < 1.2)
  assert.match(formatRun(result), /counter left \{"alarms":1,"inside":1\}/)
})

test('reports no stay that ends before, although the object was hidden in between', async () => {
  const hidden = await run([
    ...Array(5).fill(0.2),
    ...Array(4).fill(undefined),
    ...Array(5).fill(0.2),
  ])
  assert.equal(hidden.events.length, 1)
  const brief = await run([...Array(8).fill(0.2), ...Array(20).fill(0.9)])
  assert.deepEqual(brief.events, [])
  const others = await run(Array(30).fill(0.2), { seconds: 1, class: 'car' })
  assert.deepEqual(others.events, [])
})

test('counts an object in a zone at the lower edge of the picture, which cuts it off', async () => {
  for (const height of [0.2, 0.3]) {
    const cutOff = { ...personAt(0.2), bbox: { x: 0.15, y: 0.8, w: 0.1, h: height } }
    const element = await openElement(plugin['dwell-alarm'], { config })
    const { counters } = await runElement(element, [createStream(10).next([cutOff])])
    assert.deepEqual(counters, { left: { inside: 1, alarms: 0 } })
  }
})

test('counts an object in the part of a zone that its outline surrounds twice', async () => {
  // The points of a pentagram, whose centre is the centre of the picture.
  const coords = Array.from({ length: 5 }, (_, n) => ({
    x: 0.5 + 0.4 * Math.sin((4 * Math.PI * n) / 5),
    y: 0.5 - 0.4 * Math.cos((4 * Math.PI * n) / 5),
  }))
  const config = { zones: [{ name: 'star', coords }] }
  const element = await openElement(plugin['dwell-alarm'], { config })
  const person = { ...personAt(0.5), bbox: { x: 0.45, y: 0.3, w: 0.1, h: 0.2 } }
  const { counters } = await runElement(element, [createStream(10).next([person])])
  assert.deepEqual(counters, { star: { inside: 1, alarms: 0 } })
})

test('continues a stay over frames that are far apart', async () => {
  const element = await openElement(plugin['dwell-alarm'], { args: { seconds: 10 }, config })
  const stream = createStream(0.2)
  const frames = Array.from({ length: 6 }, () => stream.next([personAt(0.2)]))
  const { events } = await runElement(element, frames)
  assert.deepEqual(
    events.map(({ dwell_seconds: dwellSeconds }) => dwellSeconds),
    [15],
  )
})

test('rejects two zones of one name, which would share a counter', async () => {
  const [zone] = config.zones
  await assert.rejects(
    openElement(plugin['dwell-alarm'], { config: { zones: [zone, zone] } }),
    /names must be unique/,
  )
})

test('begins anew after an interruption of the stream', async () => {
  const element = await openElement(plugin['dwell-alarm'], { args: { seconds: 1 }, config })
  const stream = createStream(10)
  const frames = Array.from({ length: 16 }, (_, n) =>
    stream.next([personAt(0.2)], { discontinuity: n === 8 }),
  )
  assert.deepEqual((await runElement(element, frames)).events, [])
})
