import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { createOutageTracker, describeOutage } from './engine-outage.ts'

const GRACE_MS = 5000
const engine = { engine_id: 'e1', engine_name: 'Yard' }
const refused = { status: ENGINE_STATUS.offline, reason: 'connection refused' }
const forbidden = { status: ENGINE_STATUS.error, reason: 'the token is wrong' }
const lastResponseAt = new Date('2026-01-31T12:00:00.000Z')

function track() {
  let nowMs = lastResponseAt.getTime()
  const tracker = createOutageTracker(GRACE_MS, () => nowMs)
  return {
    ...tracker,
    advance(ms: number) {
      nowMs += ms
    },
  }
}

describe('outage of an engine', () => {
  it('is reported after the grace time, since the engine last answered, with the latest reason', () => {
    const tracker = track()
    tracker.recordFailure(refused, lastResponseAt)
    tracker.advance(GRACE_MS - 1)
    expect(tracker.current(engine)).toBeUndefined()
    tracker.recordFailure(forbidden, null)
    tracker.advance(1)
    expect(tracker.current(engine)).toEqual({
      ...engine,
      status: 'error',
      since: lastResponseAt.toISOString(),
      reason: 'the token is wrong',
    })
  })

  it('is over when the engine is connected, and the next one has a grace time again', () => {
    const tracker = track()
    tracker.recordFailure(refused, lastResponseAt)
    tracker.advance(GRACE_MS)
    tracker.recordConnected()
    expect(tracker.current(engine)).toBeUndefined()
    tracker.recordFailure(refused, null)
    expect(tracker.current(engine)).toBeUndefined()
    tracker.advance(GRACE_MS)
    expect(tracker.current(engine)?.since).toBe('2026-01-31T12:00:05.000Z')
  })

  it('is described with the name of the engine, the time and the reason', () => {
    const outage = { ...engine, since: lastResponseAt.toISOString() }
    expect(describeOutage({ ...outage, status: 'offline', reason: 'connection refused' })).toBe(
      'engine Yard has been offline since 2026-01-31 12:00:00 UTC: connection refused: check that it runs, and the network to it',
    )
    expect(describeOutage({ ...outage, status: 'error', reason: 'the token is wrong' })).toBe(
      'engine Yard has been unusable since 2026-01-31 12:00:00 UTC: the token is wrong',
    )
  })
})
