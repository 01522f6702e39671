import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BACKOFF,
  initialState,
  type Lifecycle,
  type LifecycleEvent,
  type Nature,
  STEADY_MS,
  transition,
} from './source-lifecycle.ts'

const lost: LifecycleEvent = { type: 'lost', reason: 'it is away', transient: true }
const broken: LifecycleEvent = { type: 'lost', reason: 'it is broken', transient: false }

const event: fc.Arbitrary<LifecycleEvent> = fc.oneof(
  fc.constantFrom<LifecycleEvent>({ type: 'tried' }, { type: 'heard' }, { type: 'ended' }),
  fc.record({ type: fc.constant('degraded' as const), reason: fc.option(fc.string(), { nil: undefined }) }),
  fc.record({ type: fc.constant('lost' as const), reason: fc.string(), transient: fc.boolean() }),
)
const story = fc.array(
  fc.record({ event, afterMs: fc.nat(60_000), chance: fc.double({ min: 0, max: 0.999, noNaN: true }) }),
)
const natures = fc.constantFrom<Nature>('endless', 'looped', 'once')

/** Every state on the way, with the moment of each. */
function live(nature: Nature, events: { event: LifecycleEvent; afterMs: number; chance: number }[]) {
  let [life, now] = [initialState, 0]
  return events.map(({ event, afterMs, chance }) => {
    now += afterMs
    const before = life
    life = transition(life, event, { nature, now, random: () => chance })
    return { before, life, event, now }
  })
}

describe('whatever happens to a source', () => {
  test('it is tried again within the longest back-off, unless it is over', () => {
    fc.assert(
      fc.property(natures, story, (nature, events) => {
        for (const { life, event, now, before } of live(nature, events)) {
          if (event.type !== 'lost' || before.over || life.over) continue
          expect(life.nextTryAt).toBeGreaterThanOrEqual(now + BACKOFF.initialMs / 2)
          expect(life.nextTryAt).toBeLessThanOrEqual(now + BACKOFF.maxMs)
        }
      }),
    )
  })

  test('a camera is never over but by its end, and never failed', () => {
    const withoutEnd = story.map(events => events.filter(({ event }) => event.type !== 'ended'))
    fc.assert(
      fc.property(withoutEnd, events => {
        for (const { life } of live('endless', events)) {
          expect(life.over).toBe(false)
          expect(['connecting', 'running', 'reconnecting']).toContain(life.state)
        }
      }),
    )
  })

  test('what is over stays as it is', () => {
    fc.assert(
      fc.property(natures, story, (nature, events) => {
        for (const { before, life } of live(nature, events)) if (before.over) expect(life).toBe(before)
      }),
    )
  })

  test('only what is lost has a reason and a time to be tried at, and only what runs has a beginning', () => {
    fc.assert(
      fc.property(natures, story, (nature, events) => {
        for (const { life } of live(nature, events)) {
          const isLost = life.state === 'reconnecting' || life.state === 'failed'
          if (isLost) expect(life.reason).toBeDefined()
          else expect(life.nextTryAt).toBeUndefined()
          expect(life.runningSince !== undefined).toBe(life.state === 'running')
          if (life.state === 'connecting' || life.state === 'ended') expect(life.reason).toBeUndefined()
        }
      }),
    )
  })
})

describe('a camera that is lost', () => {
  const rules = { nature: 'endless', now: 0, random: () => 0.999 } as const
  const after = (life: Lifecycle, events: LifecycleEvent[], now = 0) =>
    events.reduce((each, event) => transition(each, event, { ...rules, now }), life)

  test('is waited for longer and longer, and no longer than half a minute', () => {
    let life = initialState
    const waits = Array.from({ length: 9 }, () => {
      life = after(life, [{ type: 'tried' }, lost])
      return Math.round(life.nextTryAt! / 500) / 2
    })
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30, 30])
  })

  test('is waited for as at first only when it has run for a while', () => {
    const weary = after(initialState, [lost, lost, lost, { type: 'heard' }])
    expect(after(weary, [lost], STEADY_MS).failures).toBe(4)
    expect(after(weary, [lost], STEADY_MS + 1).failures).toBe(1)
  })

  test('is waited for by chance, so that not all come back at once', () => {
    const waits = [0, 0.5, 0.9].map(
      chance => transition(initialState, lost, { ...rules, random: () => chance }).nextTryAt,
    )
    expect(new Set(waits).size).toBe(3)
  })
})

test.each([
  ['once', lost, { state: 'failed', over: false }],
  ['once', broken, { state: 'failed', over: true }],
  ['looped', broken, { state: 'failed', over: false }],
  ['endless', broken, { state: 'reconnecting', over: false }],
] as const)('a source that is played %s and lost by %o is then %o', (nature, event, expected) => {
  expect(transition(initialState, event, { nature, now: 0, random: () => 0.5 })).toMatchObject(expected)
})
