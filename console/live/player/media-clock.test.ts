import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timelineFrom } from './media-clock.ts'

/** As a browser keeps it: whole µs, cut off. */
const asMediaTime = (seconds: number) => Math.floor(seconds * 1e6) / 1e6

describe('a timeline', () => {
  it('brings the first fragment into the first second, whatever stream time it has', () => {
    const { mediaTimeOf, timestampOffset } = timelineFrom(90_000 * 3_600 * 24 * 365 + 1_234)
    expect(mediaTimeOf(90_000 * 3_600 * 24 * 365 + 1_234)).toBeCloseTo(1_234 / 90_000)
    expect(timestampOffset).toBe(-3_600 * 24 * 365)
  })

  it('gives back the exact pts of every frame, through the rounding of a browser', () => {
    const pts = fc.integer({ min: 0, max: 90_000 * 3_600 * 24 * 365 * 20 })
    fc.assert(
      fc.property(pts, fc.integer({ min: 0, max: 90_000 * 3_600 * 24 }), (first, later) => {
        const timeline = timelineFrom(first)
        expect(timeline.ptsAt(asMediaTime(timeline.mediaTimeOf(first + later)))).toBe(first + later)
      }),
    )
  })
})
