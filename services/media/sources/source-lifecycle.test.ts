import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BACKOFF,
  INITIAL_STATE,
  type Lifecycle,
  type LifecycleEvent,
  type PlayMode,
  STEADY_MS,
  transition,
} from './source-lifecycle.ts'

const lost: LifecycleEvent = { type: 'lost', reason: 'the camera is off', transient: true }
const broken: LifecycleEvent = { type: 'lost', reason: 'the file is broken', transient: false }

interface Step {
  event: LifecycleEvent
  afterMs: number
  chance: number
}

const event: fc.Arbitrary<LifecycleEvent> = fc.oneof(
  fc.constantFrom<LifecycleEvent>(
    { type: 'attempt' },
    { type: 'returned' },
    { type: 'data' },
    { type: 'ended' },
  ),
  fc.record({
    type: fc.constant('degraded' as const),
    reason: fc.option(fc.string(), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('lost' as const), reason: fc.string(), transient: fc.boolean() }),
)
const steps = fc.array(
  fc.record({
    event,
    afterMs: fc.nat(60_000),
    chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
  }),
)
const modes = fc.constantFrom<PlayMode>('endless', 'looped', 'once')

/** Returns every transition with its time. */
function replay(mode: PlayMode, events: Step[]) {
  let after = INITIAL_STATE
  let now = 0
  return events.map(({ event, afterMs, chance }) => {
    now += afterMs
    const before = after
    after = transition(before, event, { mode, now, random: () => chance })
    return { before, after, event, now }
  })
}

describe('source lifecycle, for any sequence of events', () => {
  it('schedules the next attempt within the maximum back-off, except in a final state', () => {
    fc.assert(
      fc.property(modes, steps, (mode, events) => {
        for (const { before, after, event, now } of replay(mode, events)) {
          if (event.type !== 'lost' || before.isFinal || after.isFinal) continue
          expect(after.nextAttemptAt).toBeGreaterThanOrEqual(now + BACKOFF.initialMs / 2)
          expect(after.nextAttemptAt).toBeLessThanOrEqual(now + BACKOFF.maxMs)
        }
      }),
    )
  })

  it('never fails a camera, nor puts it in a final state before its stream ends', () => {
    const withoutEnd = steps.map(events => events.filter(({ event }) => event.type !== 'ended'))
    fc.assert(
      fc.property(withoutEnd, events => {
        for (const { after } of replay('endless', events)) {
          expect(after.isFinal).toBe(false)
          expect(['connecting', 'running', 'reconnecting']).toContain(after.state)
        }
      }),
    )
  })

  it('never leaves a final state', () => {
    fc.assert(
      fc.property(modes, steps, (mode, events) => {
        for (const { before, after } of replay(mode, events)) {
          if (before.isFinal) expect(after).toBe(before)
        }
      }),
    )
  })

  it('sets the reason, next attempt and start of the run only in the states that have them', () => {
    fc.assert(
      fc.property(modes, steps, (mode, events) => {
        for (const { after } of replay(mode, events)) {
          const isLost = after.state === 'reconnecting' || after.state === 'failed'
          if (isLost) expect(after.reason).toBeDefined()
          else expect(after.nextAttemptAt).toBeUndefined()
          expect(after.runningSince !== undefined).toBe(after.state === 'running')
          if (after.state === 'connecting' || after.state === 'ended') {
            expect(after.reason).toBeUndefined()
          }
        }
      }),
    )
  })
})

describe('back-off of a lost camera', () => {
  const rules = { mode: 'endless', now: 0, random: () => 0.999 } as const
  const apply = (state: Lifecycle, events: LifecycleEvent[], now = 0) =>
    events.reduce((current, event) => transition(current, event, { ...rules, now }), state)

  it('doubles with each failure, up to 15 seconds', () => {
    let state = INITIAL_STATE
    const delays = Array.from({ length: 9 }, () => {
      state = apply(state, [{ type: 'attempt' }, lost])
      return Math.round(state.nextAttemptAt! / 500) / 2
    })
    expect(delays).toEqual([0.5, 1, 2, 4, 8, 15, 15, 15, 15])
  })

  it('restarts only after a steady run', () => {
    const recovered = apply(INITIAL_STATE, [lost, lost, lost, { type: 'data' }])
    expect(apply(recovered, [lost], STEADY_MS).failures).toBe(4)
    expect(apply(recovered, [lost], STEADY_MS + 1).failures).toBe(1)
  })

  it('restarts when the host returns', () => {
    const returned = apply(INITIAL_STATE, [lost, lost, lost, { type: 'returned' }])
    expect(returned).toMatchObject({ state: 'reconnecting', failures: 0, nextAttemptAt: undefined })
    expect(apply(returned, [lost]).nextAttemptAt).toBeLessThanOrEqual(BACKOFF.initialMs)
  })

  it('is randomized, so that cameras do not all reconnect at once', () => {
    const delays = [0, 0.5, 0.9].map(
      chance => transition(INITIAL_STATE, lost, { ...rules, random: () => chance }).nextAttemptAt,
    )
    expect(new Set(delays).size).toBe(3)
  })
})

it.each([
  ['once', lost, { state: 'failed', isFinal: false }],
  ['once', broken, { state: 'failed', isFinal: true }],
  ['looped', broken, { state: 'failed', isFinal: false }],
  ['endless', broken, { state: 'reconnecting', isFinal: false }],
] as const)('a source played %s goes after %o to %o', (mode, event, expected) => {
  expect(transition(INITIAL_STATE, event, { mode, now: 0, random: () => 0.5 })).toMatchObject(
    expected,
  )
})
