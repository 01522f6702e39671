import type { AlertCondition } from '@eyrie/contract/management/alert'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AlertRule,
  type AlertState,
  type AlertTrigger,
  evaluateAlert,
} from './evaluate-alert.ts'

const initial: AlertState = { firedAt: undefined, holds: undefined }
const over5: AlertRule = { threshold: 5, condition: 'gt', frequency: 0 }
const message = (statistic: number | undefined, timeMs = 0): AlertTrigger => ({
  cause: 'message',
  timeMs,
  statistic,
})
const tick = (statistic: number | undefined, timeMs = 0): AlertTrigger => ({
  cause: 'time',
  timeMs,
  statistic,
})

describe('alert condition', () => {
  it.each<[AlertCondition, boolean, boolean, boolean]>([
    ['gt', false, false, true],
    ['gte', false, true, true],
    ['lt', true, false, false],
    ['lte', true, true, false],
    ['eq', false, true, false],
    ['ne', true, false, true],
  ])('%s holds below, at and above the threshold: %s, %s, %s', (condition, ...expected) => {
    const watch = { ...over5, condition }
    expect(
      [4, 5, 6].map(statistic => evaluateAlert(watch, initial, message(statistic)).holds),
    ).toEqual(expected)
  })

  it('never holds without a statistic', () => {
    for (const condition of ['gt', 'gte', 'lt', 'lte', 'eq', 'ne'] as const) {
      expect(evaluateAlert({ ...over5, condition }, initial, tick(undefined))).toEqual({
        fires: false,
        holds: false,
      })
    }
  })
})

describe('evaluateAlert', () => {
  it('fires on every message while the condition holds, with frequency 0', () => {
    const held: AlertState = { firedAt: 1000, holds: true }
    expect(evaluateAlert(over5, held, message(6, 1001)).fires).toBe(true)
    expect(evaluateAlert(over5, held, message(6, 1000)).fires).toBe(true)
    expect(evaluateAlert(over5, held, message(5, 1001)).fires).toBe(false)
  })

  it('fires on time once the condition starts to hold, with frequency 0', () => {
    const quiet: AlertRule = { threshold: 0, condition: 'eq', frequency: 0 }
    expect(evaluateAlert(quiet, { firedAt: 10, holds: false }, tick(0, 1000)).fires).toBe(true)
    expect(evaluateAlert(quiet, { firedAt: 10, holds: true }, tick(0, 1000)).fires).toBe(false)
    expect(evaluateAlert(quiet, initial, tick(0)).fires).toBe(true)
  })

  it('fires while the condition holds, limited by the frequency', () => {
    const everyMinute = { ...over5, frequency: 60 }
    const fired: AlertState = { firedAt: 1000, holds: true }
    for (const createTrigger of [message, tick]) {
      expect(evaluateAlert(everyMinute, fired, createTrigger(6, 60_999)).fires).toBe(false)
      expect(evaluateAlert(everyMinute, fired, createTrigger(6, 61_000)).fires).toBe(true)
    }
  })

  it('fires after the minimum interval if the condition held before its end', () => {
    const everyMinute = { ...over5, frequency: 60 }
    expect(evaluateAlert(everyMinute, { firedAt: 0, holds: false }, message(6, 1000))).toEqual({
      fires: false,
      holds: true,
    })
    expect(evaluateAlert(everyMinute, { firedAt: 0, holds: true }, tick(6, 60_000)).fires).toBe(
      true,
    )
  })

  it('fires again after a clock that was ahead has been corrected', () => {
    const everyMinute = { ...over5, frequency: 60 }
    const firedAhead = { firedAt: 7_200_000, holds: true }
    expect(evaluateAlert(everyMinute, firedAhead, message(6, 0)).fires).toBe(true)
  })

  it('never fires more often than the frequency', () => {
    const triggers = fc.array(
      fc.record({
        cause: fc.constantFrom<AlertTrigger['cause']>('message', 'time'),
        delayMs: fc.integer({ min: 0, max: 40_000 }),
        statistic: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
      }),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(triggers, fc.integer({ min: 1, max: 60 }), (steps, frequency) => {
        let timeMs = 0
        let state = initial
        const firings: number[] = []
        for (const { delayMs, ...trigger } of steps) {
          timeMs += delayMs
          const { fires, holds } = evaluateAlert({ ...over5, frequency }, state, {
            ...trigger,
            timeMs,
          })
          if (fires) firings.push(timeMs)
          state = { firedAt: fires ? timeMs : state.firedAt, holds }
          expect(fires && !((trigger.statistic ?? 0) > 5)).toBe(false)
        }
        const gaps = firings.slice(1).map((time, index) => time - firings[index]!)
        expect(gaps.every(gap => gap >= frequency * 1000)).toBe(true)
      }),
    )
  })
})
