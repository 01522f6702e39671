import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStream, findProblems, openElement, runElement } from '@eyrie/element/testing'
import plugin from './element.ts'

const FPS = 10

/**
 * A person on the floor of a square picture whose box has this share of the height of
 * the standing person.
 */
function personWith(share: number, track = 1) {
  const height = 0.4 * share
  const width = 0.15 + 0.25 * (1 - share)
  return {
    class: 'person',
    score: 0.9,
    track,
    bbox: { x: 0.5 - width / 2, y: 0.9 - height, w: width, h: height },
  }
}

const UPRIGHT = 1
const LYING = 0.3
const HIDDEN = 0
const stay = (share: number, seconds: number) => Array<number>(seconds * FPS).fill(share)
/** Steps from one posture to another within some seconds. */
const move = (from: number, to: number, seconds: number) =>
  Array.from({ length: seconds * FPS }, (_, n) => from + ((to - from) * (n + 1)) / (seconds * FPS))

/** Runs the element on a person in these postures; `HIDDEN` if the person is not detected. */
async function findFalls(postures: number[]) {
  const element = await openElement(plugin['fall-detector'])
  const stream = createStream(FPS, { width: 1000, height: 1000 })
  const run = await runElement(
    element,
    postures.map(share => stream.next(share === HIDDEN ? [] : [personWith(share)])),
  )
  assert.deepEqual(findProblems(run), [])
  return run.events.map(({ type, seconds }) => ({ type, seconds: Math.round(seconds) }))
}

test('reports a fall once, after the person was lying for three seconds', async () => {
  const postures = [...stay(UPRIGHT, 2), ...move(UPRIGHT, LYING, 0.5), ...stay(LYING, 10)]
  assert.deepEqual(await findFalls(postures), [{ type: 'fall', seconds: 5 }])
})

test('reports the next fall, after the person was upright', async () => {
  const fall = [...stay(UPRIGHT, 2), ...move(UPRIGHT, LYING, 0.5), ...stay(LYING, 5)]
  assert.equal((await findFalls([...fall, ...move(LYING, UPRIGHT, 1), ...fall])).length, 2)
})

test('reports a fall of a person who was hidden for a while', async () => {
  const fall = [...stay(UPRIGHT, 2), ...move(UPRIGHT, LYING, 0.5), ...stay(LYING, 1)]
  const hidden = await findFalls([...fall, ...stay(HIDDEN, 10), ...stay(LYING, 10)])
  assert.deepEqual(hidden, [{ type: 'fall', seconds: 14 }])
})

/** Returns what the element logs about a person who stands, in frames at this rate. */
async function readLog(fps: number) {
  const element = await openElement(plugin['fall-detector'])
  const stream = createStream(fps)
  await runElement(
    element,
    Array.from({ length: 50 }, () => stream.next([personWith(UPRIGHT)])),
  )
  return element.log
}

test('logs once that frames are too far apart to detect falls', async () => {
  assert.deepEqual(await readLog(0.5), [
    {
      level: 'warn',
      fields: { intervalS: 2, maxIntervalS: 0.5 },
      message: 'frames are too far apart to detect falls',
    },
  ])
  assert.deepEqual(await readLog(2), [])
})

test('reports no person who lies down slowly, is lying already, or gets up at once', async () => {
  assert.deepEqual(
    await findFalls([...stay(UPRIGHT, 2), ...move(UPRIGHT, LYING, 6), ...stay(LYING, 10)]),
    [],
  )
  assert.deepEqual(await findFalls(stay(LYING, 10)), [])
  const stumble = [...move(UPRIGHT, LYING, 0.5), ...stay(LYING, 1), ...move(LYING, UPRIGHT, 1)]
  assert.deepEqual(await findFalls([...stay(UPRIGHT, 2), ...stumble, ...stay(UPRIGHT, 5)]), [])
})

test('reports no person who walks downhill', async () => {
  const element = await openElement(plugin['fall-detector'])
  const stream = createStream(FPS)
  const frames = Array.from({ length: 50 }, (_, n) => {
    const person = personWith(UPRIGHT)
    return stream.next([{ ...person, bbox: { ...person.bbox, y: 0.01 * n } }])
  })
  assert.deepEqual((await runElement(element, frames)).events, [])
})
