import { describe, expect, it } from 'vitest'
import { type Correction, keepAtEdge, targetDelay } from './live-edge.ts'

const rateOf = (correction: Correction | undefined) =>
  correction && 'rate' in correction ? correction.rate : undefined

describe('playback at the live edge', () => {
  const at = (position: number) => keepAtEdge({ position, ranges: [[0, 11]], edge: 10, targetDelay: 0.2 })

  it('goes on unchanged at the target', () => {
    expect(at(9.78)).toEqual({ rate: 1 })
  })

  it('hurries when it is behind, and dawdles when metadata could not follow', () => {
    expect(rateOf(at(9.5))).toBeGreaterThan(1)
    expect(rateOf(at(9.95))).toBeLessThan(1)
  })

  it('never changes its speed by more than a tenth', () => {
    expect(rateOf(at(8.9))).toBe(1.1)
    expect(rateOf(at(10))).toBeGreaterThanOrEqual(0.9)
  })

  it('jumps when it is more than a second behind', () => {
    expect(at(8.7)).toEqual({ seekTo: 9.8 })
  })

  it('hurries where a jump would take longer than it is behind', () => {
    const slowToJump = { ranges: [[0, 11] as const], edge: 10, targetDelay: 0.2, jumpCost: 2 }
    expect(keepAtEdge({ position: 7, ...slowToJump })).toEqual({ rate: 1.5 })
    expect(keepAtEdge({ position: 4, ...slowToJump })).toEqual({ seekTo: 9.8 })
  })

  it('lets late frames catch up where it has run ahead of them, and goes back where they are far behind', () => {
    expect(at(10.5)).toEqual({ rate: 0.5 })
    expect(at(11.2)).toEqual({ seekTo: 9.8 })
  })

  it('changes its speed so little where somebody listens that nobody hears it', () => {
    const heard = (position: number) =>
      keepAtEdge({ position, ranges: [[0, 11]], edge: 10, targetDelay: 0.3, audible: true })
    expect(heard(9.2)).toEqual({ rate: 1.03 })
    expect(heard(9.95)).toEqual({ rate: 0.97 })
    expect(heard(10.2)).toEqual({ rate: 1 })
    expect(heard(8.5)).toEqual({ seekTo: 9.7 })
  })

  it('waits while nothing is buffered', () => {
    expect(keepAtEdge({ position: 0, ranges: [], edge: 0, targetDelay: 0.2 })).toBeUndefined()
  })

  it('jumps to where the stream begins', () => {
    expect(keepAtEdge({ position: 0, ranges: [[0.4, 1.4]], edge: 0.44, targetDelay: 0.2 })).toEqual({
      seekTo: 0.4,
    })
  })

  it('jumps over a gap at which it stands, and not before', () => {
    const gap = { ranges: [[0, 5] as const, [5.5, 6.7] as const], edge: 5.7, targetDelay: 0.2 }
    expect(keepAtEdge({ position: 4.8, ...gap })).toHaveProperty('rate')
    expect(keepAtEdge({ position: 4.97, ...gap })).toEqual({ seekTo: 5.5 })
  })

  it('settles at the target from anywhere within reach', () => {
    for (const delay of [0.05, 0.5, 1.1]) {
      let position = 10 - delay
      let end = 10
      for (let frame = 0; frame < 25 * 20; frame++) {
        const rate = rateOf(keepAtEdge({ position, ranges: [[0, end + 1]], edge: end, targetDelay: 0.2 }))!
        position += 0.04 * rate
        end += 0.04
      }
      expect(end - position).toBeGreaterThanOrEqual(0.2)
      expect(end - position).toBeLessThan(0.28)
    }
  })
})

describe('the target delay', () => {
  it('covers the time that metadata needs', () => {
    expect(targetDelay(150)).toBeCloseTo(0.17)
  })

  it('evens out the network even where metadata is prompt', () => {
    expect(targetDelay(0)).toBeCloseTo(0.08)
  })

  it('is bounded, so that a stuck analysis does not take the live out of live view', () => {
    expect(targetDelay(60_000)).toBe(2)
  })
})
