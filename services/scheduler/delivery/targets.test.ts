import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Outcome } from '../senders/sender.ts'
import { createTargets, TARGET_CONCURRENCY } from './targets.ts'

const success: Outcome = { state: 'delivered', reason: '' }
const failure: Outcome = { state: 'failed', reason: '', isTargetDown: true }
const rejection: Outcome = { state: 'failed', reason: '', isTargetDown: false }

function createScene() {
  let nowMs = 1_000_000
  // Without randomness, a pause is half as long as the back-off permits.
  const targets = createTargets(
    () => nowMs,
    () => 0,
  )
  const attempt = (outcome: Outcome, target = 'a') => {
    targets.begin(target)
    return targets.finish(target, outcome)
  }
  return {
    targets,
    attempt,
    pass(ms: number) {
      nowMs += ms
    },
  }
}

describe('targets', () => {
  it('take a limited number of messages at a time', () => {
    const { targets } = createScene()
    targets.begin('a')
    targets.begin('a')
    expect(targets.getLimits()).toEqual({ a: TARGET_CONCURRENCY - 2 })
    targets.finish('a', success)
    targets.finish('a', success)
    expect(targets.getLimits()).toEqual({})
  })

  it('take no message after five consecutive failures, while others do', () => {
    const { targets, attempt } = createScene()
    expect([1, 2, 3, 4, 5, 6].map(() => attempt(failure))).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
    ])
    attempt(failure, 'b')
    expect(targets.getLimits()).toEqual({ a: 0, b: TARGET_CONCURRENCY })
    expect(targets.countPaused()).toBe(1)
  })

  it('are tried with one message after a pause, which doubles with each failure', () => {
    const { targets, attempt, pass } = createScene()
    for (let i = 0; i < 5; i += 1) attempt(failure)
    expect(targets.getNextProbeMs()).toBe(2500)
    pass(2500)
    expect(targets.getLimits()).toEqual({ a: 1 })
    targets.begin('a')
    expect(targets.getLimits()).toEqual({ a: 0 })
    targets.finish('a', failure)
    expect(targets.getNextProbeMs()).toBe(5000)
    pass(5000)
    attempt(success)
    expect(targets.getLimits()).toEqual({})
    expect(targets.getNextProbeMs()).toBeUndefined()
  })

  it('remain paused no longer because the time is put back', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const targets = createTargets()
    for (let i = 0; i < 5; i += 1) {
      targets.begin('a')
      targets.finish('a', failure)
    }
    vi.setSystemTime(Date.now() - 2 * 3_600_000)
    expect(targets.getNextProbeMs()).toBeLessThanOrEqual(5000)
  })

  it('are not down because a receiver rejects single messages', () => {
    const { targets, attempt } = createScene()
    for (let i = 0; i < 10; i += 1) attempt(rejection)
    expect(targets.countPaused()).toBe(0)
  })

  it('are forgotten an hour after their last message', () => {
    const { targets, attempt, pass } = createScene()
    attempt(failure)
    pass(3_600_001)
    expect(targets.getLimits()).toEqual({})
  })
})
