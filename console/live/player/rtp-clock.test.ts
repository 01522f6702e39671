import { describe, expect, it } from 'vitest'
import { createRtpClock } from './rtp-clock.ts'

describe('the clock of an RTP stream', () => {
  it('tells the pts that is nearest, before and after', () => {
    const near = 3 * 2 ** 32 + 900_000
    const clock = createRtpClock(near)
    expect(clock.ptsAt(903_600)).toBe(near + 3600)
    expect(clock.ptsAt(810_000)).toBe(near - 90_000)
  })

  it('goes on where timestamps begin again at zero', () => {
    const clock = createRtpClock(2 ** 32 - 1800)
    expect([2 ** 32 - 1800, 1800, 5400].map(clock.ptsAt)).toEqual([
      2 ** 32 - 1800,
      2 ** 32 + 1800,
      2 ** 32 + 5400,
    ])
    expect(clock.ptsAt(2 ** 32 - 1800)).toBe(2 ** 32 - 1800)
  })
})
