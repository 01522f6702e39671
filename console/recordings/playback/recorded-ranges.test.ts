import { describe, expect, it } from 'vitest'
import {
  countRecordedMs,
  estimateBytes,
  findContinuation,
  findNearestRecorded,
  mergeSpans,
} from './recorded-ranges.ts'

const spans = [
  { from: 0, to: 10_000, bytes: 1_000 },
  { from: 20_000, to: 30_000, bytes: 3_000 },
]

describe('recorded ranges', () => {
  it('find a recorded time itself', () => {
    expect(findNearestRecorded(spans, 5_000)).toBe(5_000)
  })

  it('find the nearest recorded time in the preferred direction, otherwise in the other one', () => {
    expect([
      findNearestRecorded(spans, 15_000),
      findNearestRecorded(spans, 15_000, 'earlier'),
    ]).toEqual([20_000, 9_000])
    expect([findNearestRecorded(spans, 40_000), findNearestRecorded(spans, -1, 'earlier')]).toEqual(
      [29_000, 0],
    )
    expect(findNearestRecorded([], 0)).toBeUndefined()
  })

  it('continue in the next span after the end of one, and nowhere after the last', () => {
    expect([findContinuation(spans, 9_960), findContinuation(spans, 29_960)]).toEqual([
      20_000,
      undefined,
    ])
  })

  it('continue in the same span while it is being recorded', () => {
    expect(findContinuation(spans, 25_000)).toBe(25_001)
  })

  it('measure duration and size of a clip without its gaps', () => {
    const clip = { from: 5_000, to: 25_000 }
    expect([countRecordedMs(spans, clip), estimateBytes(spans, clip)]).toEqual([10_000, 2_000])
  })

  it('merge over gaps that are too short to be shown', () => {
    expect(mergeSpans(spans, 10_001)).toEqual([{ from: 0, to: 30_000 }])
    expect(mergeSpans(spans, 10_000)).toEqual(spans.map(({ from, to }) => ({ from, to })))
  })
})
