import { describe, expect, it } from 'vitest'
import {
  bucketInterval,
  lookback,
  lookbackMs,
  parseDuration,
  parseTime,
  timeExpression,
} from './time-expression.ts'

const now = Date.parse('2026-03-01T12:00:00Z')

describe('time expression', () => {
  it.each([
    ['now', '2026-03-01T12:00:00.000Z'],
    ['-15m', '2026-03-01T11:45:00.000Z'],
    ['-7d', '2026-02-22T12:00:00.000Z'],
    ['-1w', '2026-02-22T12:00:00.000Z'],
    ['-0.5h', '2026-03-01T11:30:00.000Z'],
    ['+1s', '2026-03-01T12:00:01.000Z'],
    ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:00.25+02:00', '2026-01-31T06:00:00.250Z'],
    ['2026-01-31t08:00:00z', '2026-01-31T08:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['1767225600000', '2026-01-01T00:00:00.000Z'],
    ['-1000', '1969-12-31T23:59:59.000Z'],
  ])('parses %s as %s', (text, time) => {
    expect(timeExpression.parse(text)).toBe(text)
    expect(new Date(parseTime(text, now)!).toISOString()).toBe(time)
  })

  it('accepts epoch milliseconds as a number', () => {
    expect(timeExpression.parse(1767225600000)).toBe('1767225600000')
  })

  it.each([
    ['2026-01-31T08:00:00 02:00', '2026-01-31T08:00:00+02:00'],
    ['2026-01-31 08:00:00.5 02:00', '2026-01-31 08:00:00.5+02:00'],
    [' 1h', '+1h'],
  ])('restores the plus sign that query decoding removed from %j', (text, restored) => {
    expect(timeExpression.parse(text)).toBe(restored)
  })

  it.each([
    '',
    '2026-01-31 08:00',
    'yesterday',
    '15m',
    '-m',
    '-1y',
    '2026-01-31',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-31T08:00:00',
    '999999999999999',
    '0000-12-31T00:00:00Z',
    '-1e3',
    'NOW ',
  ])('rejects %j', text => {
    expect(timeExpression.safeParse(text).success).toBe(false)
  })
})

describe('duration', () => {
  it.each([
    ['100ms', 100],
    ['1s', 1000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['2w', 1_209_600_000],
  ])('parses %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
    expect(bucketInterval.parse(text)).toBe(text)
  })

  it.each(['', '0s', '0.1ms', '-5m', '5', 'm', '5 m', '1y', '99999999w', 'Infinitys'])(
    'rejects %j',
    text => {
      expect(bucketInterval.safeParse(text).success).toBe(false)
    },
  )
})

describe('lookback', () => {
  it('accepts a duration with or without a minus sign', () => {
    expect([lookbackMs(lookback.parse('-1h')), lookbackMs(lookback.parse('1h'))]).toEqual([
      3_600_000, 3_600_000,
    ])
  })

  it('rejects a repeated minus sign', () => {
    expect(lookback.safeParse('--1h').success).toBe(false)
  })
})
