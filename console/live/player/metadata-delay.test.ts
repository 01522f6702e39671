import { describe, expect, it } from 'vitest'
import { createMetadataDelay } from './metadata-delay.ts'

describe('metadata delay', () => {
  it('is the 95th percentile of the last hundred frames', () => {
    const delay = createMetadataDelay()
    for (let n = 0; n < 100; n++) {
      delay.frameArrived(n, 1_000 * n)
      delay.metadataArrived(n, 1_000 * n + (n < 6 ? 150 : 20))
    }
    expect(delay.p95Ms()).toBe(150)
    delay.frameArrived(100, 0)
    delay.metadataArrived(100, 20)
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
    delay.frameArrived(1, 0)
    delay.frameArrived(2, 40)
    delay.metadataArrived(2, 70)
    expect(delay.p95Ms()).toBe(30)
  })
})
