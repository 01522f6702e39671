import { describe, expect, it } from 'vitest'
import { createMetadataDelay } from './metadata-delay.ts'

/** Distance between two frames. */
const TICKS = 3_600

describe('metadata delay', () => {
  it('is the 95th percentile of the last hundred frames', () => {
    const delay = createMetadataDelay()
    for (let n = 0; n < 100; n++) {
      delay.frameArrived(n * TICKS, 1_000 * n)
      delay.metadataArrived(n * TICKS, 1_000 * n + (n < 6 ? 150 : 20))
    }
    expect(delay.p95Ms()).toBe(150)
    delay.frameArrived(100 * TICKS, 0)
    delay.metadataArrived(100 * TICKS, 20)
    expect(delay.p95Ms()).toBe(20)
  })

  it('is zero for metadata that arrives before its frame', () => {
    const delay = createMetadataDelay()
    delay.metadataArrived(1, 0)
    delay.frameArrived(1, 30)
    expect(delay.p95Ms()).toBe(0)
  })

  it('ignores frames without metadata', () => {
    const delay = createMetadataDelay()
    delay.frameArrived(TICKS, 0)
    delay.frameArrived(2 * TICKS, 40)
    delay.metadataArrived(2 * TICKS, 70)
    expect(delay.p95Ms()).toBe(30)
  })

  it('matches a frame with metadata whose pts deviates by a few milliseconds', () => {
    const delay = createMetadataDelay()
    delay.frameArrived(TICKS, 0)
    delay.metadataArrived(TICKS + 400, 50)
    expect(delay.p95Ms()).toBe(50)
  })
})
