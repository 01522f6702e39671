import type { AlertCondition } from '@eyrie/contract/management/alert'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluate, type Occasion, type Standing, type Watch } from './evaluate.ts'

const never: Standing = { firedAt: undefined, holds: undefined }
const over5: Watch = { threshold: 5, condition: 'gt', frequency: 0 }
const message = (statistic: number | undefined, at = 0): Occasion => ({ cause: 'message', at, statistic })
const tick = (statistic: number | undefined, at = 0): Occasion => ({ cause: 'time', at, statistic })

describe('the condition of an alert', () => {
  it.each<[AlertCondition, boolean, boolean, boolean]>([
    ['gt', false, false, true],
    ['gte', false, true, true],
    ['lt', true, false, false],
    ['lte', true, true, false],
    ['eq', false, true, false],
    ['ne', true, false, true],
  ])('%s holds below, at and above the threshold: %s, %s, %s', (condition, ...expected) => {
    const watch = { ...over5, condition }
    expect([4, 5, 6].map(statistic => evaluate(watch, never, message(statistic)).holds)).toEqual(expected)
  })

  it('never holds where there is nothing to tell the statistic from', () => {
    for (const condition of ['gt', 'gte', 'lt', 'lte', 'eq', 'ne'] as const)
      expect(evaluate({ ...over5, condition }, never, tick(undefined))).toEqual({
        fires: false,
        holds: false,
      })
  })
})

describe('an alert', () => {
  it('of frequency 0 fires with every message while its condition holds', () => {
    const held: Standing = { firedAt: 1000, holds: true }
    expect(evaluate(over5, held, message(6, 1001)).fires).toBe(true)
    expect(evaluate(over5, held, message(6, 1000)).fires).toBe(true)
    expect(evaluate(over5, held, message(5, 1001)).fires).toBe(false)
  })

  it('of frequency 0 fires with time alone when its condition comes to hold, and once', () => {
    const quiet: Watch = { threshold: 0, condition: 'eq', frequency: 0 }
    expect(evaluate(quiet, { firedAt: 10, holds: false }, tick(0, 1000)).fires).toBe(true)
    expect(evaluate(quiet, { firedAt: 10, holds: true }, tick(0, 1000)).fires).toBe(false)
    expect(evaluate(quiet, never, tick(0)).fires).toBe(true)
  })

  it('fires while its condition holds, as often as its frequency allows', () => {
    const everyMinute = { ...over5, frequency: 60 }
    const fired: Standing = { firedAt: 1000, holds: true }
    for (const occasion of [message, tick]) {
      expect(evaluate(everyMinute, fired, occasion(6, 60_999)).fires).toBe(false)
      expect(evaluate(everyMinute, fired, occasion(6, 61_000)).fires).toBe(true)
    }
  })

  it('that came to hold too early fires when its frequency allows it', () => {
    const everyMinute = { ...over5, frequency: 60 }
    expect(evaluate(everyMinute, { firedAt: 0, holds: false }, message(6, 1000))).toEqual({
      fires: false,
      holds: true,
    })
    expect(evaluate(everyMinute, { firedAt: 0, holds: true }, tick(6, 60_000)).fires).toBe(true)
  })

  it('fires no more often than its frequency, whatever comes', () => {
    const occasions = fc.array(
      fc.record({
        cause: fc.constantFrom<Occasion['cause']>('message', 'time'),
        wait: fc.integer({ min: 0, max: 40_000 }),
        statistic: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
      }),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(occasions, fc.integer({ min: 1, max: 60 }), (given, frequency) => {
        let at = 0
        let standing = never
        const firings: number[] = []
        for (const { wait, ...occasion } of given) {
          at += wait
          const { fires, holds } = evaluate({ ...over5, frequency }, standing, { ...occasion, at })
          if (fires) firings.push(at)
          standing = { firedAt: fires ? at : standing.firedAt, holds }
          expect(fires && !((occasion.statistic ?? 0) > 5)).toBe(false)
        }
        const gaps = firings.slice(1).map((time, n) => time - firings[n]!)
        expect(gaps.every(gap => gap >= frequency * 1000)).toBe(true)
      }),
    )
  })
})
