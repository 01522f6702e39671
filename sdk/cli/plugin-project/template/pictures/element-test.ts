import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createPicture,
  createStream,
  findProblems,
  formatRun,
  openElement,
  runElement,
} from '@eyrie/element/testing'
import plugin from './element.ts'

test('reports darkness once, and its end', async () => {
  const element = await openElement(plugin['example-element'])
  const stream = createStream(10)
  const inputs = [255, 0, 0, 51].map(pixel => {
    const picture = createPicture({ format: 'GRAY8', width: 64, height: 36 })
    picture.data.fill(pixel)
    return { frame: stream.next(), picture }
  })
  const run = await runElement(element, inputs)
  assert.equal(formatRun(run), '0.20 s dark {"brightness":0}\n0.40 s bright {"brightness":0.2}\n')
  assert.deepEqual(findProblems(run), [])
  assert.deepEqual(element.readMetrics().values, { brightness: 0.2 })
})
