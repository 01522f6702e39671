import { beforeEach, describe, expect, it } from 'vitest'
import { describeRevert, failsMore, type HealthBefore } from './revert-rule.ts'
import { HEALTH_PERIOD_MS, VersionHealth } from './version-health.ts'

let now: number
let health: VersionHealth
beforeEach(() => {
  now = 0
  health = new VersionHealth(() => now)
})

const on = (version: string, channel = 3) => ({ name: 'probe', version, channel, element: 'probe' })

/** Fails now, and processes frames again after `ms`. */
function failFor(version: string, ms: number, channel?: number): void {
  health.record({ ...on(version, channel), failure: 'lens cap' })
  now += ms
  health.record({ ...on(version, channel), failure: undefined })
}

/** Whether version 2 is reverted, which was activated at `since`. */
function isReverted(since: number): boolean {
  return failsMore(before, health.summarize('probe', '2.0.0', since))
}
let before: HealthBefore = { failures: 0, failedMs: 0, observedMs: HEALTH_PERIOD_MS }

describe('revert of a version', () => {
  it('follows three failures if the version before had none', () => {
    for (const expected of [false, false, true]) {
      now += 1000
      failFor('2.0.0', 400)
      expect(isReverted(0)).toBe(expected)
    }
  })

  it('does not follow if the version before had failed as much', () => {
    for (let minute = 0; minute < 10; minute++) {
      failFor('1.0.0', 30_000)
      now += 30_000
    }
    before = health.summarize('probe', '1.0.0', 0)
    const since = now
    for (let minute = 0; minute < 5; minute++) {
      failFor('2.0.0', 30_000)
      now += 30_000
    }
    expect(isReverted(since)).toBe(false)
    // Then it fails all the time.
    for (let minute = 0; minute < 4; minute++) failFor('2.0.0', 60_000)
    expect(isReverted(since)).toBe(true)
  })

  it('says what has failed, how often and where', () => {
    before = { failures: 0, failedMs: 0, observedMs: HEALTH_PERIOD_MS }
    for (const channel of [4, 3, 4]) failFor('2.0.0', 500, channel)
    const after = health.summarize('probe', '2.0.0', 0)
    expect(describeRevert({ from: '1.0.0', to: '2.0.0', before }, after)).toBe(
      '2.0.0 has failed 3 times within 2 s on channels 3, 4 (lens cap); 1.0.0 had not failed in the 10 min before',
    )
  })
})

describe('health of a version', () => {
  it('counts an outage once, with all failures until the element processes frames again', () => {
    health.record({ ...on('1.0.0'), failure: 'lens cap' })
    now += 200
    health.record({ ...on('1.0.0'), failure: 'still' })
    now += 300
    expect(health.summarize('probe', '1.0.0', 0)).toEqual({
      failures: 2,
      failedMs: 500,
      observedMs: 500,
      channels: [3],
      lastReason: 'still',
    })
    health.record({ ...on('1.0.0'), failure: undefined })
    now += 500
    expect(health.summarize('probe', '1.0.0', 0)).toMatchObject({ failedMs: 500, observedMs: 1000 })
    expect(health.summarize('probe', '2.0.0', 0)).toMatchObject({ failures: 0, failedMs: 0 })
  })

  it('forgets what is longer ago than ten minutes', () => {
    failFor('1.0.0', 1000)
    now += HEALTH_PERIOD_MS + 1
    expect(health.summarize('probe', '1.0.0', 0)).toMatchObject({ failures: 0, failedMs: 0 })
  })
})
