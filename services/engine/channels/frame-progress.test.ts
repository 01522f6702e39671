import { describe, expect, it } from 'vitest'
import { FrameProgress } from './frame-progress.ts'

describe('frame progress', () => {
  it('counts the frames that are skipped, and no frame twice', () => {
    const progress = new FrameProgress()
    progress.beginAfter(4)
    expect(progress.advance()).toBe(5)
    expect(progress.skipTo(8)).toBe(3)
    expect(progress.skipTo(8)).toBe(0)
    expect(progress.isBehind(8)).toBe(false)
    expect(progress.isBehind(9)).toBe(true)
  })

  it('releases frames up to the oldest one in flight', () => {
    const progress = new FrameProgress()
    progress.beginAfter(0)
    const endFirst = progress.startFlight(progress.advance())
    const endSecond = progress.startFlight(progress.advance())
    expect(progress.lastReleased).toBe(0)
    endSecond()
    expect(progress.lastReleased).toBe(0)
    endFirst()
    expect(progress.lastReleased).toBe(2)
  })

  it('does not confuse frames of the same number after a reset', () => {
    const progress = new FrameProgress()
    progress.beginAfter(0)
    const endFormer = progress.startFlight(progress.advance())
    progress.reset()
    expect(progress.lastHandled).toBeUndefined()
    progress.beginAfter(0)
    progress.startFlight(progress.advance())
    endFormer()
    expect(progress.inFlightCount).toBe(1)
  })
})
