import { expect, it } from 'vitest'
import type { MessageDraft } from '../output/message-draft.ts'
import type { Sink, SinkFrame, SinkRecord } from '../sinks/sink.ts'
import { ResultPublisher } from './result-publisher.ts'

const stamp = { n: 7, pts: 90_000, time: 0, discontinuity: false, width: 640, height: 360 }

/** A publisher of results with a sink, and what both have received. */
function createPublisher() {
  const published: MessageDraft[] = []
  const written: (SinkRecord & Pick<SinkFrame, 'discontinuity'>)[] = []
  const sink: Sink = {
    view: undefined,
    failure: undefined,
    write: (record, { discontinuity }) => void written.push({ ...record, discontinuity }),
    close: async () => {},
  }
  const resultPublisher = new ResultPublisher({
    plan: { id: 3, source: 1, pipeline: 2 },
    publisher: { publish: draft => published.push(draft) },
    sinks: () => [sink],
    findRing: () => undefined,
  })
  return { published, written, resultPublisher }
}

it('clips boxes to the picture for the output and for sinks', () => {
  const { published, written, resultPublisher } = createPublisher()
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

it('publishes events and discontinuities of dropped frames with the next frame, once', () => {
  const { published, written, resultPublisher } = createPublisher()
  const publish = (n: number) => {
    const analysis = { objects: [], counters: {}, events: [{ type: `event ${n}` }] }
    resultPublisher.publish({ stamp: { ...stamp, n }, epoch: 1, analysis, latencyMs: 5 })
  }
  resultPublisher.addDropped({ discontinuity: true, events: [{ type: 'event 1' }] })
  resultPublisher.addDropped({ discontinuity: false, events: [{ type: 'event 2' }] })
  publish(3)
  publish(4)
  const events = published.filter(({ kind }) => kind === 'event').map(({ data }) => data)
  expect(events).toEqual([1, 2, 3, 4].map(n => ({ type: `event ${n}` })))
  expect(written.map(({ discontinuity, events }) => [discontinuity, events.length])).toEqual([
    [true, 3],
    [false, 1],
  ])
})

it('keeps the newest thousand events if no frame is published', () => {
  const { published, resultPublisher } = createPublisher()
  for (let n = 1; n <= 1200; n++) {
    resultPublisher.addDropped({ discontinuity: false, events: [{ type: `event ${n}` }] })
  }
  const analysis = { objects: [], counters: {}, events: [] }
  resultPublisher.publish({ stamp, epoch: 1, analysis, latencyMs: 5 })
  const events = published.filter(({ kind }) => kind === 'event')
  expect([events.length, events[0]?.data]).toEqual([1000, { type: 'event 201' }])
})
