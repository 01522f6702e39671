import { describe, expect, it } from 'vitest'
import { createStreamClock } from './clock.ts'

describe('stream clock', () => {
  it('has the stream time and the capture time of the frame', () => {
    const { clock, advance } = createStreamClock()
    expect([clock.seconds, clock.time]).toEqual([0, 0])
    advance({ pts: 225_000, time: 1_764_000_000_000_000 })
    expect([clock.seconds, clock.time]).toEqual([2.5, 1_764_000_000_000])
  })
})
