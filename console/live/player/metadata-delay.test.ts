import { describe, expect, it } from 'vitest'
import { createLateness } from './metadata-delay.ts'

describe('the lateness of metadata', () => {
  it('is that of the slowest frames but one in twenty', () => {
    const lateness = createLateness()
    for (let n = 0; n < 100; n++) {
      lateness.pictureArrived(n, 1_000 * n)
      lateness.metadataArrived(n, 1_000 * n + (n < 6 ? 150 : 20))
    }
    expect(lateness.p95Ms()).toBe(150)
    lateness.pictureArrived(100, 0)
    lateness.metadataArrived(100, 20)
    expect(lateness.p95Ms()).toBe(20)
  })

  it('is nothing for metadata that arrives before its picture', () => {
    const lateness = createLateness()
    lateness.metadataArrived(1, 0)
    lateness.pictureArrived(1, 30)
    expect(lateness.p95Ms()).toBe(0)
  })

  it('does not count pictures that were never analysed', () => {
    const lateness = createLateness()
    lateness.pictureArrived(1, 0)
    lateness.pictureArrived(2, 40)
    lateness.metadataArrived(2, 70)
    expect(lateness.p95Ms()).toBe(30)
  })
})
