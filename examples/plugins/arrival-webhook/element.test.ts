import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createStream,
  findProblems,
  formatRun,
  openElement,
  runElement,
  type TestElement,
} from '@eyrie/element/testing'
import plugin from './element.ts'

const url = 'https://hooks.example.com/arrivals'
const person = (track: number) => ({
  class: 'person',
  score: 0.9,
  track,
  bbox: { x: 0.4, y: 0.4, w: 0.1, h: 0.2 },
})

/**
 * A server that answers with these statuses in turn, then with 200, and remembers what it was sent.
 */
function createServer(...statuses: number[]) {
  const bodies: unknown[] = []
  const fetch = async (address: string, request: { body?: string | Uint8Array } = {}) => {
    assert.equal(address, url)
    bodies.push(JSON.parse(String(request.body)))
    return { status: statuses.shift() ?? 200, headers: {}, body: new Uint8Array() }
  }
  return { bodies, fetch }
}

/**
 * Processes seconds in which these tracks are visible, one frame each. Calls are
 * finished between two frames.
 */
async function run(element: TestElement, tracks: number[][]) {
  const stream = createStream(1)
  const frames = (async function* () {
    for (const visible of tracks) {
      yield stream.next(visible.map(person))
      await new Promise(setImmediate)
    }
  })()
  const result = await runElement(element, frames)
  assert.deepEqual(findProblems(result), [])
  return result
}

test('reports and sends each arrival once', async () => {
  const { bodies, fetch } = createServer()
  const element = await openElement(plugin['arrival-webhook'], { source: { id: 7 }, fetch })
  const result = await run(element, [[], [1], [1], [1, 2], [], [2]])
  const bbox = JSON.stringify({ h: 0.2, w: 0.1, x: 0.4, y: 0.4 })
  assert.equal(
    formatRun(result),
    `2.00 s arrival {"bbox":${bbox},"class":"person","track":1}\n` +
      `4.00 s arrival {"bbox":${bbox},"class":"person","track":2}\n`,
  )
  assert.deepEqual(bodies, [
    { source: 7, time: '1970-01-01T00:00:02.000Z', class: 'person', track: 1 },
    { source: 7, time: '1970-01-01T00:00:04.000Z', class: 'person', track: 2 },
  ])
  assert.deepEqual(element.readMetrics().totals, { calls: 2 })
})

test('reports an object that stays once, although frames are far apart', async () => {
  const { fetch } = createServer()
  const element = await openElement(plugin['arrival-webhook'], { fetch })
  const stream = createStream(1 / 120)
  const frames = Array.from({ length: 4 }, () => stream.next([person(1)]))
  assert.equal((await runElement(element, frames)).events.length, 1)
})

test('reports an object whose track has the id of one before an interruption', async () => {
  const { fetch } = createServer()
  const element = await openElement(plugin['arrival-webhook'], { fetch })
  const stream = createStream(1)
  const { events } = await runElement(element, [
    stream.next([person(1)]),
    stream.next([person(1)], { discontinuity: true }),
  ])
  assert.deepEqual(
    events.map(({ seconds, track }) => [seconds, track]),
    [
      [1, 1],
      [2, 1],
    ],
  )
})

test('sends all calls of the last frame', async () => {
  const { bodies, fetch } = createServer()
  const element = await openElement(plugin['arrival-webhook'], { fetch })
  await run(element, [[1, 2, 3]])
  assert.deepEqual(
    bodies.map(body => (body as { track: number }).track),
    [1, 2, 3],
  )
})

test('repeats a call that fails, and gives up after three attempts', async () => {
  const { bodies, fetch } = createServer(500, 200, 500, 500, 500)
  const element = await openElement(plugin['arrival-webhook'], { fetch })
  await run(element, [[1], ...Array(10).fill([1]), [1, 2], ...Array(20).fill([1, 2])])
  assert.deepEqual(
    bodies.map(body => (body as { track: number }).track),
    [1, 1, 2, 2, 2],
  )
  assert.deepEqual(element.readMetrics().totals, { calls: 1, failed_calls: 1 })
  const [entry] = element.log
  assert.deepEqual(entry?.fields, { reason: `${url} has answered with status 500` })
})

test('does not wait for a server that never answers', async () => {
  const element = await openElement(plugin['arrival-webhook'], {
    fetch: () => new Promise(() => {}),
  })
  const { events } = await run(
    element,
    Array.from({ length: 30 }, (_, n) => [n + 1]),
  )
  assert.equal(events.length, 30)
  assert.deepEqual(element.readMetrics().totals, { failed_calls: 9 })
})
