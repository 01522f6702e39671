import { createLog } from '@eyrie/kit/log'
import { describe, expect, it } from 'vitest'
import type { MessageDraft } from '../output/message-draft.ts'
import { createPublishPipeline } from './publish-pipeline.ts'
import { createRecordingAnnotator } from './recording-annotator.ts'

const place = {
  channel: 3,
  source: 1,
  pipeline: 2,
  pts: 9000,
  epoch: 1,
  time: '2026-01-01T00:00:00.000Z',
}
const frame: MessageDraft = {
  ...place,
  kind: 'frame',
  data: {
    n: 1,
    objects: [{ class: 'car', score: 0.5, bbox: { x: 0, y: 0, w: 1, h: 1 }, embedding: [1, 2] }],
    counters: {},
    latency: 1,
  },
}
const event: MessageDraft = { ...place, kind: 'event', data: { type: 'fire' } }
const count: MessageDraft = { ...place, kind: 'count', data: {} }
const state: MessageDraft = { ...place, kind: 'state', data: { state: 'starting' } }

const log = createLog('test', 'silent')

describe('publish pipeline', () => {
  it('passes each kind of message through its steps in order', () => {
    const steps: string[] = []
    const step = (name: string) => (draft: MessageDraft) => void steps.push(`${name} ${draft.kind}`)
    const pipeline = createPublishPipeline({
      recordings: { annotate: step('recordings') },
      frameHistory: { add: step('history'), find: () => undefined },
      eventPictures: {
        publish: (draft, output) => {
          step('pictures')(draft)
          output.publish(draft)
        },
        publishAfterEvents: (draft, output) => {
          step('pictures')(draft)
          output.publish(draft)
        },
        drain: async () => {},
      },
      output: { publish: step('output') },
      log,
    })
    for (const draft of [frame, event, count, state]) pipeline.publish(draft)
    expect(steps).toEqual([
      ...['recordings frame', 'history frame', 'output frame'],
      ...['recordings event', 'pictures event', 'output event'],
      ...['recordings count', 'pictures count', 'output count'],
      ...['recordings state', 'pictures state', 'output state'],
    ])
  })

  it('publishes a message that cannot be recorded', () => {
    const published: MessageDraft[] = []
    const pipeline = createPublishPipeline({
      recordings: createRecordingAnnotator(
        { isRecorded: () => true, send: message => void JSON.stringify(message) },
        () => [],
      ),
      output: { publish: draft => void published.push(draft) },
      log,
    })
    const unserializable: MessageDraft = { ...event, data: { type: 'fire', size: 1n } }
    for (const draft of [unserializable, frame]) pipeline.publish(draft)
    expect(published).toEqual([unserializable, frame])
  })
})

describe('recording annotator', () => {
  const shapes = [{ name: 'door', type: 'line', points: [{ x: 0, y: 0 }] }]

  function startAnnotator(recorded: number[]) {
    const sent: unknown[] = []
    const media = {
      isRecorded: (source: number) => recorded.includes(source),
      send: (message: unknown) => void sent.push(message),
    }
    return { sent, annotator: createRecordingAnnotator(media, () => shapes) }
  }

  it('annotates frames without embeddings and repeats the shapes of a channel every second', () => {
    const { sent, annotator } = startAnnotator([1])
    for (const pts of [0, 9000, 90_000]) annotator.annotate({ ...frame, pts })
    const result = { type: 'result', source: 1, channel: 3, counters: {} }
    const objects = [{ class: 'car', score: 0.5, bbox: { x: 0, y: 0, w: 1, h: 1 } }]
    expect(sent).toEqual([
      { ...result, pts: 0, objects, shapes },
      { ...result, pts: 9000, objects },
      { ...result, pts: 90_000, objects, shapes },
    ])
  })

  it('records events of recorded sources only, and no counts', () => {
    const { sent, annotator } = startAnnotator([1])
    annotator.annotate(event)
    annotator.annotate({ ...event, source: 2 })
    annotator.annotate(count)
    const { source, channel, pts, time } = place
    expect(sent).toEqual([{ type: 'event', source, channel, pts, time, data: { type: 'fire' } }])
  })
})
