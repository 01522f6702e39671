import { describe, expect, it } from 'vitest'
import { type ChannelConditions, deriveChannelState, derivePipelineState } from './channel-state.ts'

const healthy: ChannelConditions = {
  elementFailure: undefined,
  mediaOutage: undefined,
  source: { id: 1, state: 'running' },
  hasAnalysed: true,
  isBusy: true,
  isOverloaded: false,
  isYielding: false,
  sinkFailure: undefined,
}
const stateWith = (facts: Partial<ChannelConditions>) =>
  deriveChannelState({ ...healthy, ...facts })

describe('channel state', () => {
  it('is running without a problem', () => {
    expect(stateWith({})).toEqual({ state: 'running' })
  })

  it('is starting until the first frame is analysed, with a reason', () => {
    expect(stateWith({ hasAnalysed: false }).state).toBe('starting')
    expect(
      stateWith({ hasAnalysed: false, mediaOutage: 'the media service is unreachable' }),
    ).toEqual({
      state: 'starting',
      reason: 'the media service is unreachable',
    })
  })

  it('is degraded while the source or the media service is unreachable, a sink loses records or many frames are dropped', () => {
    const source = { id: 1, state: 'reconnecting', reason: 'no route' } as const
    const lost = { state: 'degraded', lost: true }
    expect(stateWith({ mediaOutage: 'the media service is unreachable' })).toEqual({
      ...lost,
      reason: 'the media service is unreachable',
    })
    expect(stateWith({ source })).toEqual({ ...lost, reason: 'no route' })
    expect(stateWith({ sinkFailure: 'disk full' })).toEqual({
      state: 'degraded',
      reason: 'disk full',
    })
    expect(stateWith({ isOverloaded: true }).state).toBe('degraded')
    expect(stateWith({ isOverloaded: true })).not.toHaveProperty('lost')
    const lossy = {
      id: 1,
      state: 'running',
      loss: 0.5,
      reason: 'it loses 50 % of its packets',
    } as const
    expect(stateWith({ source: lossy })).toEqual({ state: 'degraded', reason: lossy.reason })
  })

  it('mentions pipelines of higher priority, even before the first frame', () => {
    const reason = 'frames are dropped: the machine is too slow for all of its channels'
    expect(stateWith({ isOverloaded: true }).reason).toBe(reason)
    const starved = {
      state: 'degraded',
      reason: `${reason}, and pipelines of higher priority are served first`,
    }
    expect(stateWith({ isOverloaded: true, isYielding: true })).toEqual(starved)
    expect(stateWith({ isOverloaded: true, isYielding: true, hasAnalysed: false })).toEqual(starved)
    expect(stateWith({ isYielding: true })).toEqual({ state: 'running' })
  })

  it('is failed when an element or the source has failed', () => {
    const source = { id: 1, state: 'failed', reason: 'no such file' } as const
    expect(stateWith({ elementFailure: 'count: boom' })).toEqual({
      state: 'failed',
      reason: 'count: boom',
    })
    expect(stateWith({ source })).toEqual({ state: 'failed', reason: 'no such file' })
  })

  it('is stopped after the last frame of an ended file', () => {
    const source = { id: 1, state: 'ended' } as const
    expect(stateWith({ source, isBusy: true }).state).toBe('running')
    expect(stateWith({ source, isBusy: false })).toEqual({
      state: 'stopped',
      reason: 'the file has ended',
    })
  })
})

describe('pipeline state', () => {
  const running = { source: 1, state: 'running' } as const
  const failed = { source: 2, state: 'failed', reason: 'no such file' } as const
  const stopped = { source: 3, state: 'stopped', reason: 'the file has ended' } as const
  const starting = { source: 4, state: 'starting' } as const

  it('is idle without a source', () => {
    expect(derivePipelineState([]).state).toBe('idle')
  })

  it('equals the state that all channels share', () => {
    expect(derivePipelineState([running, running])).toEqual({ state: 'running' })
    expect(derivePipelineState([failed])).toEqual({ state: 'failed', reason: 'no such file' })
  })

  it('is degraded when some channels failed, and names the source', () => {
    expect(derivePipelineState([running, failed])).toEqual({
      state: 'degraded',
      reason: 'source 2: no such file',
    })
  })

  it('is running when some channels run and none has a problem', () => {
    expect(derivePipelineState([stopped, running]).state).toBe('running')
    expect(derivePipelineState([starting, running]).state).toBe('starting')
  })
})
