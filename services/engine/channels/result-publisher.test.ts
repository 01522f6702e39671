import { expect, it } from 'vitest'
import type { MessageDraft } from '../output/message-draft.ts'
import type { Sink, SinkRecord } from '../sinks/sink.ts'
import { ResultPublisher } from './result-publisher.ts'

const stamp = { n: 7, pts: 90_000, time: 0, discontinuity: false, width: 640, height: 360 }

it('clips boxes to the picture for the output and for sinks', () => {
  const published: MessageDraft[] = []
  const written: SinkRecord[] = []
  const sink: Sink = {
    view: undefined,
    failure: undefined,
    write: record => void written.push(record),
    close: async () => {},
  }
  const resultPublisher = new ResultPublisher({
    plan: { id: 3, source: 1, pipeline: 2 },
    publisher: { publish: draft => published.push(draft) },
    sinks: () => [sink],
    findRing: () => undefined,
  })
  const inside = { x: 0.1, y: 0.2, w: 0.3, h: 0.4 }
  const over = { x: -0.25, y: 0.5, w: 0.5, h: 0.75 }
  const within = { x: 0, y: 0.5, w: 0.25, h: 0.5 }
  const person = { class: 'person', score: 0.5 }
  const objects = [
    { ...person, bbox: inside },
    { ...person, bbox: over },
  ]
  const events = [{ type: 'zone-enter', bbox: over }, { type: 'alone' }]
  resultPublisher.publish({
    stamp,
    epoch: 1,
    analysis: { objects, counters: {}, events },
    latencyMs: 5,
  })

  const shown = { objects: [objects[0], { ...person, bbox: within }] }
  expect(published.map(({ kind, data }) => [kind, data])).toEqual([
    ['event', { type: 'zone-enter', bbox: within }],
    ['event', { type: 'alone' }],
    ['frame', { n: 7, ...shown, counters: {}, latency: 5 }],
  ])
  expect(written).toMatchObject([{ ...shown, events: [{ bbox: within }, { type: 'alone' }] }])
})
