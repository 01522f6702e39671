import { createLog } from '@eyrie/kit/log'
import { beforeEach, describe, expect, it } from 'vitest'
import type { StateReport } from '../channels/channel-state.ts'
import { FrameStatistics } from '../channels/frame-statistics.ts'
import type { MessageDraft } from '../output/message-draft.ts'
import { type ReportedChannel, StatusReporter } from './status-reporter.ts'

const states = new Map<number, StateReport>()
let evaluated: number[] = []
let published: MessageDraft[] = []

/** Two channels of each of three pipelines: 11 and 12 of pipeline 1, and so on. */
const channels: ReportedChannel[] = [11, 12, 21, 22, 31, 32].map(id => ({
  plan: { id, source: id % 10, pipeline: Math.floor(id / 10) },
  statistics: new FrameStatistics(),
  get state() {
    evaluated.push(id)
    return states.get(id) ?? { state: 'running' as const }
  },
}))
const publishedStates = () =>
  published.map(({ channel, pipeline, data }) => [channel ?? `pipeline ${pipeline}`, data])

let reporter: StatusReporter
beforeEach(() => {
  states.clear()
  published = []
  reporter = new StatusReporter({
    channels: () => channels,
    publisher: { publish: draft => published.push(draft) },
    log: createLog('test', 'silent'),
  })
  reporter.publishStates([1, 2, 3])
  evaluated = []
  published = []
})

describe('status reporter', () => {
  it('publishes changed states of channels and of their pipelines', () => {
    states.set(22, { state: 'failed', reason: 'no file' })
    reporter.publishStates([1, 2, 3])
    expect(publishedStates()).toEqual([
      [22, { state: 'failed', reason: 'no file' }],
      ['pipeline 2', { state: 'degraded', reason: 'source 2: no file' }],
    ])
  })

  it('evaluates only the channels of the pipeline that changed', () => {
    states.set(22, { state: 'stopped' })
    reporter.publishPipelineState(2)
    expect(evaluated).toEqual([21, 22])
    expect(publishedStates()).toEqual([[22, { state: 'stopped' }]])
    reporter.publishStates([1, 2, 3])
    expect(publishedStates()).toHaveLength(1)
  })

  it('publishes the states of a pipeline again after it was removed and added', () => {
    reporter.publishStates([1, 3])
    reporter.publishStates([1, 2, 3])
    expect(publishedStates()).toEqual([
      [21, { state: 'running' }],
      [22, { state: 'running' }],
      ['pipeline 2', { state: 'running' }],
    ])
  })
})
