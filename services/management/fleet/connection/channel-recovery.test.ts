import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createChannelRecovery } from './channel-recovery.ts'

const createRecovery = () => createChannelRecovery({ initialMs: 1000, maxMs: 4000 }, () => 1)

describe('channel recovery', () => {
  it('restarts a failing channel at once, then with increasing delays', () => {
    const recovery = createRecovery()
    const restartSeconds = Array.from({ length: 16 }, (_, second) => second).filter(
      second => recovery.claimRestarts(['a'], second * 1000).length > 0,
    )
    expect(restartSeconds).toEqual([0, 1, 3, 7, 11, 15])
  })

  it('starts over after a channel has run for ten minutes', () => {
    const recovery = createRecovery()
    for (const second of [0, 1, 3, 7]) recovery.claimRestarts(['a'], second * 1000)
    recovery.claimRestarts([], 700_000)
    expect(recovery.claimRestarts(['a'], 700_001)).toEqual(['a'])
    expect(recovery.claimRestarts(['a'], 701_001)).toEqual(['a'])
  })

  it('tracks each channel separately', () => {
    const recovery = createRecovery()
    recovery.claimRestarts(['a'], 0)
    expect(recovery.claimRestarts(['a', 'b'], 500)).toEqual(['b'])
  })

  it('does not depend on the wall clock, which may be set back', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2038-01-19T03:14:07Z') })
    onTestFinished(() => void vi.useRealTimers())
    const recovery = createChannelRecovery({ initialMs: 0, maxMs: 0 })
    expect(recovery.claimRestarts(['a'])).toEqual(['a'])
    vi.setSystemTime('2026-03-04T12:00:00Z')
    expect(recovery.claimRestarts(['a'])).toEqual(['a'])
  })
})
