import { describe, expect, it } from 'vitest'
import { type ChannelFacts, channelState, pipelineState } from './channel-state.ts'

const well: ChannelFacts = {
  failure: undefined,
  absence: undefined,
  source: { id: 1, state: 'running' },
  begun: true,
  busy: true,
  lacking: false,
  yielding: false,
  sinkFailure: undefined,
}
const stateWith = (facts: Partial<ChannelFacts>) => channelState({ ...well, ...facts })

describe('a channel', () => {
  it('runs when everything is well', () => {
    expect(stateWith({})).toEqual({ state: 'running' })
  })

  it('starts until its first frame, and says what it waits for', () => {
    expect(stateWith({ begun: false }).state).toBe('starting')
    expect(stateWith({ begun: false, absence: 'media is away' })).toEqual({
      state: 'starting',
      reason: 'media is away',
    })
  })

  it('is degraded while media or the source is away, a sink loses records or too many frames are dropped', () => {
    const source = { id: 1, state: 'reconnecting', reason: 'no route' } as const
    const lost = { state: 'degraded', lost: true }
    expect(stateWith({ absence: 'media is away' })).toEqual({ ...lost, reason: 'media is away' })
    expect(stateWith({ source })).toEqual({ ...lost, reason: 'no route' })
    expect(stateWith({ sinkFailure: 'disk full' })).toEqual({ state: 'degraded', reason: 'disk full' })
    expect(stateWith({ lacking: true }).state).toBe('degraded')
    expect(stateWith({ lacking: true })).not.toHaveProperty('lost')
    const lossy = { id: 1, state: 'running', loss: 0.5, reason: 'it loses 50 % of its packets' } as const
    expect(stateWith({ source: lossy })).toEqual({ state: 'degraded', reason: lossy.reason })
  })

  it('says that it gives way to higher priorities, also where it never had a turn', () => {
    const reason = 'frames are dropped: the machine has less capacity than is asked of it'
    expect(stateWith({ lacking: true }).reason).toBe(reason)
    const starved = { state: 'degraded', reason: `${reason}, and pipelines of higher priority go first` }
    expect(stateWith({ lacking: true, yielding: true })).toEqual(starved)
    expect(stateWith({ lacking: true, yielding: true, begun: false })).toEqual(starved)
    expect(stateWith({ yielding: true })).toEqual({ state: 'running' })
  })

  it('has failed when an element or the source has', () => {
    const source = { id: 1, state: 'failed', reason: 'no such file' } as const
    expect(stateWith({ failure: 'count: boom' })).toEqual({ state: 'failed', reason: 'count: boom' })
    expect(stateWith({ source })).toEqual({ state: 'failed', reason: 'no such file' })
  })

  it('is stopped when the file has ended, but not before its last frame is through', () => {
    const source = { id: 1, state: 'ended' } as const
    expect(stateWith({ source, busy: true }).state).toBe('running')
    expect(stateWith({ source, busy: false })).toEqual({ state: 'stopped', reason: 'the file has ended' })
  })
})

describe('a pipeline', () => {
  const running = { source: 1, state: 'running' } as const
  const failed = { source: 2, state: 'failed', reason: 'no such file' } as const
  const stopped = { source: 3, state: 'stopped', reason: 'the file has ended' } as const
  const starting = { source: 4, state: 'starting' } as const

  it('is idle without a source', () => {
    expect(pipelineState([]).state).toBe('idle')
  })

  it('is as its channels are when they are all alike', () => {
    expect(pipelineState([running, running])).toEqual({ state: 'running' })
    expect(pipelineState([failed])).toEqual({ state: 'failed', reason: 'no such file' })
  })

  it('is degraded while a part of it has failed, and names the source', () => {
    expect(pipelineState([running, failed])).toEqual({ state: 'degraded', reason: 'source 2: no such file' })
  })

  it('runs while some of its channels do and none is in trouble', () => {
    expect(pipelineState([stopped, running]).state).toBe('running')
    expect(pipelineState([starting, running]).state).toBe('starting')
  })
})
