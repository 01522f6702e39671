import { describe, expect, it } from 'vitest'
import { createStreamClock } from './clock.ts'

describe('stream clock', () => {
  it('has the stream time and the capture time of the frame', () => {
    const { clock, advance } = createStreamClock()
    expect([clock.seconds, clock.time]).toEqual([0, 0])
    advance({ pts: 225_000, time: 1_764_000_000_000_000, discontinuity: false })
    expect([clock.seconds, clock.time]).toEqual([2.5, 1_764_000_000_000])
  })

  it('waits until the stream time has caught up when it steps back, because a camera has corrected its clock', () => {
    const { clock, advance } = createStreamClock()
    const seconds = [900_000, 855_000, 891_000, 945_000].map(pts => {
      advance({ pts, time: 0, discontinuity: false })
      return clock.seconds
    })
    expect(seconds).toEqual([10, 10, 10, 10.5])
  })

  it('continues when the stream time begins anew, because media has restarted', () => {
    const { clock, advance } = createStreamClock()
    advance({ pts: 900_000, time: 0, discontinuity: false })
    const seconds = [
      { pts: 45_000, discontinuity: true },
      { pts: 135_000, discontinuity: false },
      { pts: 405_000, discontinuity: true },
    ].map(stamp => {
      advance({ ...stamp, time: 0 })
      return clock.seconds
    })
    expect(seconds).toEqual([10, 11, 14])
  })
})
