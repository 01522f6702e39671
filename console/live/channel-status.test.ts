import { describe, expect, it } from 'vitest'
import { describeAdvice, describeProblem } from './channel-status.tsx'

describe('problem of a channel', () => {
  it.each([
    [{ attempts: 7, next_try_s: 12 }, 'refused', 'attempt 7 failed, next attempt in 12 s: refused'],
    [{ attempts: 8 }, 'refused', 'attempt 8 failed, retrying now: refused'],
    [{ attempts: 1 }, undefined, 'attempt 1 failed, retrying now'],
    [{}, 'refused', 'refused'],
    [{}, undefined, undefined],
  ])('with source state %j and reason %j is described as %j', (retries, reason, description) => {
    expect(describeProblem({ reason, source: { id: 1, name: 'door', ...retries } })).toBe(
      description,
    )
  })
})

describe('advice for a channel', () => {
  it.each([
    [true, expect.stringContaining('Set the number of B-frames to 0 in the camera')],
    [undefined, undefined],
  ])('with B-frames %s is %s', (bFrames, advice) => {
    expect(describeAdvice({ source: { id: 1, name: 'door', b_frames: bFrames } })).toEqual(advice)
  })
})
