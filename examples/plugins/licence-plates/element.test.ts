import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createRecordedAnswers,
  createStream,
  findProblems,
  openElement,
  runElement,
} from '@eyrie/element/testing'
import plugin from './element.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_'
const plate = { class: 'plate', score: 0.9, bbox: { x: 0.45, y: 0.6, w: 0.1, h: 0.03 } }
const carWith = (height: number, track = 1) => ({
  class: 'car',
  score: 0.9,
  track,
  bbox: { x: 0.3, y: 0.3, w: 0.4, h: height },
})

/**
 * What the reader returns for a plate with this text: a score for each character at
 * each of nine places.
 */
function toScores(text: string): Float32Array {
  const places = [...text.padEnd(9, '_')]
  return Float32Array.from(
    places.flatMap(character => [...ALPHABET].map(each => (each === character ? 0.9 : 0.002))),
  )
}
const readerOutput = { type: 'float32', dims: [1, 9, ALPHABET.length] } as const

/**
 * Runs the element on a car at two frames per second, whose plate is read as these texts in turn.
 */
async function run(texts: string[], height = 0.4) {
  const infer = createRecordedAnswers({
    'plate-detector': () => ({ objects: [plate] }),
    'plate-reader': texts.map(text => ({
      outputs: { plate: { ...readerOutput, data: toScores(text) } },
    })),
  })
  const element = await openElement(plugin['licence-plates'], { infer })
  const stream = createStream(2)
  const result = await runElement(
    element,
    texts.map(() => stream.next([carWith(height)])),
  )
  assert.deepEqual(findProblems(result), [])
  return { ...result, requests: infer.requests }
}

test('reports the plate that three readings have in common, and reads the vehicle no more', async () => {
  const { events, objects, requests } = await run([
    'B1234',
    '81234',
    'B1234',
    'B1234',
    'never read',
  ])
  assert.deepEqual(
    events.map(({ type, plate, track }) => ({ type, plate, track })),
    [{ type: 'licence-plate', plate: 'B1234', track: 1 }],
  )
  assert.deepEqual(objects[0]?.attributes, { plate: 'B1234' })
  assert.equal(requests.length, 8)
  // The detector sees the vehicle, and the reader sees the plate.
  assert.deepEqual(
    requests.slice(0, 2).map(({ model, region }) => ({ model, region })),
    [
      { model: 'plate-detector', region: carWith(0.4).bbox },
      { model: 'plate-reader', region: plate.bbox },
    ],
  )
})

test('reports the plate of a vehicle that stays once', async () => {
  const { events } = await run(Array(60).fill('B1234'))
  assert.equal(events.length, 1)
})

test('reports the plate of a vehicle once, although the vehicle was hidden in between', async () => {
  const infer = createRecordedAnswers({
    'plate-detector': () => ({ objects: [plate] }),
    'plate-reader': () => ({ outputs: { plate: { ...readerOutput, data: toScores('B1234') } } }),
  })
  const element = await openElement(plugin['licence-plates'], { infer })
  const stream = createStream(2)
  const visible = () => Array.from({ length: 10 }, () => stream.next([carWith(0.4)]))
  const hidden = Array.from({ length: 60 }, () => [])
  const frames = [...visible(), ...hidden.map(objects => stream.next(objects)), ...visible()]
  const { events, objects } = await runElement(element, frames)
  assert.equal(events.length, 1)
  assert.deepEqual(objects[0]?.attributes, { plate: 'B1234' })
})

test('reads many vehicles in several frames, because a frame has at most 32 inferences', async () => {
  const infer = createRecordedAnswers({
    'plate-detector': () => ({ objects: [plate] }),
    'plate-reader': () => ({ outputs: { plate: { ...readerOutput, data: toScores('B1234') } } }),
  })
  const element = await openElement(plugin['licence-plates'], { args: { votes: 1 }, infer })
  const stream = createStream(10)
  const cars = Array.from({ length: 20 }, (_, n) => carWith(0.4, n + 1))
  const first = await runElement(element, [stream.next(cars)])
  assert.equal(infer.requests.length, 32)
  const second = await runElement(element, [stream.next(cars)])
  assert.equal(first.events.length + second.events.length, cars.length)
})

test('does not read what is outside of the picture, which models cannot see', async () => {
  const outside = { ...plate, bbox: { x: 0.45, y: 1.01, w: 0.1, h: 0.03 } }
  const infer = createRecordedAnswers({ 'plate-detector': () => ({ objects: [outside] }) })
  const element = await openElement(plugin['licence-plates'], { infer })
  const left = { ...carWith(0.4, 2), bbox: { x: -0.5, y: 0.3, w: 0.4, h: 0.4 } }
  await runElement(element, [createStream(2).next([left, carWith(0.8)])])
  assert.deepEqual(
    infer.requests.map(({ model, region }) => ({ model, region })),
    [{ model: 'plate-detector', region: carWith(0.8).bbox }],
  )
})

test('does not read vehicles that are too far away', async () => {
  const { events, requests } = await run(['B1234', 'B1234', 'B1234'], 0.1)
  assert.deepEqual([events, requests], [[], []])
})

test('reports no plate that is read differently each time', async () => {
  assert.deepEqual((await run(['A1', 'B1', 'C1', 'D1'])).events, [])
})
