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

const person = { class: 'person', score: 0.9, bbox: { x: 0.4, y: 0.4, w: 0.1, h: 0.2 } }

test('reports a crowd once, when it exceeds the limit', async () => {
  const element = await openElement(plugin['example-element'], { args: { limit: 1 } })
  const stream = createStream(10)
  const frames = [1, 2, 2, 1, 3].map(count => stream.next(Array(count).fill(person)))
  const run = await runElement(element, frames)
  assert.equal(formatRun(run), '0.20 s crowd {"count":2}\n0.50 s crowd {"count":3}\n')
  assert.deepEqual(findProblems(run), [])
})
