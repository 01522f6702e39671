import { describe, expect, it } from 'vitest'
import { calculateTargetDelay, correctPlayback, type PlaybackCorrection } from './live-edge.ts'

const rateOf = (correction: PlaybackCorrection | undefined) =>
  correction && 'playbackRate' in correction ? correction.playbackRate : undefined

describe('playback at the live edge', () => {
  const correctAt = (position: number) =>
    correctPlayback({ position, ranges: [[0, 11]], liveEdge: 10, targetDelay: 0.2 })

  it('plays at normal speed at the target delay', () => {
    expect(correctAt(9.78)).toEqual({ playbackRate: 1 })
  })

  it('speeds up when it is behind, and slows down when metadata would be late', () => {
    expect(rateOf(correctAt(9.5))).toBeGreaterThan(1)
    expect(rateOf(correctAt(9.95))).toBeLessThan(1)
  })

  it('changes the playback rate by at most a tenth', () => {
    expect(rateOf(correctAt(8.9))).toBe(1.1)
    expect(rateOf(correctAt(10))).toBeGreaterThanOrEqual(0.9)
  })

  it('seeks when it is more than a second behind', () => {
    expect(correctAt(8.7)).toEqual({ seekTo: 9.8 })
  })

  it('speeds up where a seek would take longer than the deviation', () => {
    const slowSeeks = {
      ranges: [[0, 11] as const],
      liveEdge: 10,
      targetDelay: 0.2,
      seekDuration: 2,
    }
    expect(correctPlayback({ position: 7, ...slowSeeks })).toEqual({ playbackRate: 1.5 })
    expect(correctPlayback({ position: 4, ...slowSeeks })).toEqual({ seekTo: 9.8 })
  })

  it('slows down when it is ahead of late frames, and seeks back when they are far behind', () => {
    expect(correctAt(10.5)).toEqual({ playbackRate: 0.5 })
    expect(correctAt(11.2)).toEqual({ seekTo: 9.8 })
  })

  it('changes the playback rate inaudibly while sound is playing', () => {
    const correctAudible = (position: number) =>
      correctPlayback({
        position,
        ranges: [[0, 11]],
        liveEdge: 10,
        targetDelay: 0.3,
        withSound: true,
      })
    expect(correctAudible(9.2)).toEqual({ playbackRate: 1.03 })
    expect(correctAudible(9.95)).toEqual({ playbackRate: 0.97 })
    expect(correctAudible(10.2)).toEqual({ playbackRate: 1 })
    expect(correctAudible(8.5)).toEqual({ seekTo: 9.7 })
  })

  it('does nothing while the buffer is empty', () => {
    expect(
      correctPlayback({ position: 0, ranges: [], liveEdge: 0, targetDelay: 0.2 }),
    ).toBeUndefined()
  })

  it('seeks to the start of the stream', () => {
    expect(
      correctPlayback({ position: 0, ranges: [[0.4, 1.4]], liveEdge: 0.44, targetDelay: 0.2 }),
    ).toEqual({
      seekTo: 0.4,
    })
  })

  it('seeks over a gap once it is stalled there, and not before', () => {
    const gap = { ranges: [[0, 5] as const, [5.5, 6.7] as const], liveEdge: 5.7, targetDelay: 0.2 }
    expect(correctPlayback({ position: 4.8, ...gap })).toHaveProperty('playbackRate')
    expect(correctPlayback({ position: 4.97, ...gap })).toEqual({ seekTo: 5.5 })
  })

  it('converges to the target delay from any deviation that needs no seek', () => {
    for (const delay of [0.05, 0.5, 1.1]) {
      let position = 10 - delay
      let liveEdge = 10
      for (let frame = 0; frame < 25 * 20; frame++) {
        const rate = rateOf(
          correctPlayback({ position, ranges: [[0, liveEdge + 1]], liveEdge, targetDelay: 0.2 }),
        )!
        position += 0.04 * rate
        liveEdge += 0.04
      }
      expect(liveEdge - position).toBeGreaterThanOrEqual(0.2)
      expect(liveEdge - position).toBeLessThan(0.28)
    }
  })
})

describe('target delay', () => {
  it('covers the delay of the metadata', () => {
    expect(calculateTargetDelay({ metadataP95Ms: 150 })).toBeCloseTo(0.17)
  })

  it('absorbs network jitter even if metadata is fast', () => {
    expect(calculateTargetDelay({ metadataP95Ms: 0 })).toBeCloseTo(0.08)
  })

  it('is limited to two seconds when the analysis is stuck', () => {
    expect(calculateTargetDelay({ metadataP95Ms: 60_000 })).toBe(2)
  })
})
