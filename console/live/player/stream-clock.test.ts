import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMediaClock, createRtpClock } from './stream-clock.ts'

describe('media clock', () => {
  /** Browsers truncate media time to whole µs. */
  const truncate = (seconds: number) => Math.floor(seconds * 1e6) / 1e6

  it('maps the first fragment into the first second of media time', () => {
    const { toMediaTime, timestampOffset } = createMediaClock(90_000 * 3_600 * 24 * 365 + 1_234)
    expect(toMediaTime(90_000 * 3_600 * 24 * 365 + 1_234)).toBeCloseTo(1_234 / 90_000)
    expect(timestampOffset).toBe(-3_600 * 24 * 365)
  })

  it('restores the exact pts of every frame from truncated media time', () => {
    const pts = fc.integer({ min: 0, max: 90_000 * 3_600 * 24 * 365 * 20 })
    fc.assert(
      fc.property(pts, fc.integer({ min: 0, max: 90_000 * 3_600 * 24 }), (first, elapsed) => {
        const clock = createMediaClock(first)
        expect(clock.toPts(truncate(clock.toMediaTime(first + elapsed)))).toBe(first + elapsed)
      }),
    )
  })
})

describe('RTP clock', () => {
  it('returns the closest pts, before or after the previous one', () => {
    const initial = 3 * 2 ** 32 + 900_000
    const clock = createRtpClock(initial)
    expect(clock.toPts(903_600)).toBe(initial + 3600)
    expect(clock.toPts(810_000)).toBe(initial - 90_000)
  })

  it('continues when timestamps wrap around', () => {
    const clock = createRtpClock(2 ** 32 - 1800)
    expect([2 ** 32 - 1800, 1800, 5400].map(clock.toPts)).toEqual([
      2 ** 32 - 1800,
      2 ** 32 + 1800,
      2 ** 32 + 5400,
    ])
    expect(clock.toPts(2 ** 32 - 1800)).toBe(2 ** 32 - 1800)
  })
})
