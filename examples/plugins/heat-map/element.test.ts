import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createMemoryStorage,
  createStream,
  findProblems,
  openElement,
  runElement,
} from '@eyrie/element/testing'
import plugin from './element.ts'

const person = { class: 'person', score: 0.9, bbox: { x: 0.7, y: 0.2, w: 0.1, h: 0.2 } }

/** Runs the element for some seconds at ten frames per second. */
async function run(storage: ReturnType<typeof createMemoryStorage>, seconds: number) {
  const element = await openElement(plugin['heat-map'], { args: { save_s: 10 }, storage })
  const stream = createStream(10)
  const frames = Array.from({ length: seconds * 10 + 1 }, () => stream.next([person]))
  const result = await runElement(element, frames)
  assert.deepEqual(findProblems(result), [])
  return { ...result, log: element.log }
}

const readTotal = async (storage: ReturnType<typeof createMemoryStorage>) => {
  const { seconds } = JSON.parse(new TextDecoder().decode(await storage.read('grid.json')))
  return (seconds as number[]).reduce((sum, each) => sum + each, 0)
}

test('counts the time at each place, and continues after a restart', async () => {
  const storage = createMemoryStorage()
  const { counters } = await run(storage, 15)
  assert.deepEqual(counters, { 'busiest place': { column: 25, row: 8, percent: 100 } })
  assert.ok(Math.abs((await readTotal(storage)) - 10) < 0.2)
  await run(storage, 10)
  assert.ok(Math.abs((await readTotal(storage)) - 20) < 0.3)
  const picture = new TextDecoder().decode(await storage.read('heat-map.svg'))
  assert.match(picture, /<rect x="24" y="7" .* fill-opacity="1.00"/)
})

test('continues when the stream time begins anew', async () => {
  const storage = createMemoryStorage()
  const element = await openElement(plugin['heat-map'], { args: { save_s: 10 }, storage })
  const before = createStream(10)
  const after = createStream(10)
  await runElement(element, [
    ...Array.from({ length: 300 }, () => before.next([person])),
    after.next([person], { discontinuity: true }),
    ...Array.from({ length: 120 }, () => after.next([person])),
  ])
  assert.ok(Math.abs((await readTotal(storage)) - 40) < 0.3)
})

test('ignores negative times, which earlier versions have stored', async () => {
  const seconds = Array(32 * 18).fill(-20)
  const grid = JSON.stringify({ columns: 32, rows: 18, seconds })
  const storage = createMemoryStorage({ 'grid.json': grid })
  const { counters } = await run(storage, 10)
  assert.equal(counters['busiest place']?.percent, 100)
  assert.ok(Math.abs((await readTotal(storage)) - 10) < 0.2)
})

test('begins anew if the stored grid is damaged', async () => {
  const storage = createMemoryStorage({ 'grid.json': '{"columns":' })
  await run(storage, 10)
  assert.ok((await readTotal(storage)) > 9)
})

test('goes on when the grid cannot be saved', async () => {
  const full = {
    ...createMemoryStorage(),
    write: () => Promise.reject(new Error('the storage is full')),
  }
  const { counters, log } = await run(full, 11)
  assert.equal(counters['busiest place']?.percent, 100)
  assert.deepEqual(log, [
    {
      level: 'warn',
      fields: { reason: 'the storage is full' },
      message: 'failed to save heat map',
    },
  ])
})
