import { createLog } from '@eyrie/kit/log'
import { beforeEach, expect, it } from 'vitest'
import type { State } from '../channels/channel-state.ts'
import { FrameStatistics } from '../channels/frame-statistics.ts'
import type { MessageDraft } from '../output/message-draft.ts'
import { type ReportedChannel, Reporter } from './reporter.ts'

const states = new Map<number, State>()
let asked: number[] = []
let published: MessageDraft[] = []

/** Two channels of each of three pipelines: 11 and 12 of pipeline 1, and so on. */
const channels: ReportedChannel[] = [11, 12, 21, 22, 31, 32].map(id => ({
  plan: { id, source: id % 10, pipeline: Math.floor(id / 10) },
  statistics: new FrameStatistics(),
  get state() {
    asked.push(id)
    return states.get(id) ?? { state: 'running' as const }
  },
}))
const told = () => published.map(({ channel, pipeline, data }) => [channel ?? `pipeline ${pipeline}`, data])

let reporter: Reporter
beforeEach(() => {
  states.clear()
  published = []
  reporter = new Reporter({
    channels: () => channels,
    publisher: { publish: draft => published.push(draft) },
    log: createLog('test', 'silent'),
  })
  reporter.announce([1, 2, 3])
  asked = []
  published = []
})

it('tells what has changed, of channels and of their pipelines', () => {
  states.set(22, { state: 'failed', reason: 'no film' })
  reporter.announce([1, 2, 3])
  expect(told()).toEqual([
    [22, { state: 'failed', reason: 'no film' }],
    ['pipeline 2', { state: 'degraded', reason: 'source 2: no film' }],
  ])
})

it('looks at the channels of one pipeline alone where only that has changed', () => {
  states.set(22, { state: 'stopped' })
  reporter.announceOne(2)
  expect(asked).toEqual([21, 22])
  expect(told()).toEqual([[22, { state: 'stopped' }]])
  reporter.announce([1, 2, 3])
  expect(told()).toHaveLength(1)
})

it('tells a pipeline anew that was gone', () => {
  reporter.announce([1, 3])
  reporter.announce([1, 2, 3])
  expect(told()).toEqual([
    [21, { state: 'running' }],
    [22, { state: 'running' }],
    ['pipeline 2', { state: 'running' }],
  ])
})
