import { describe, expect, it } from 'vitest'
import { createBackoff } from './backoff.ts'

describe('a back-off', () => {
  it('doubles up to ten seconds', () => {
    const backoff = createBackoff(() => 1)
    expect(Array.from({ length: 7 }, backoff.nextMs)).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
    ])
  })

  it('takes at least half of it, by chance', () => {
    expect(createBackoff(() => 0).nextMs()).toBe(250)
  })

  it('begins anew after a success', () => {
    const backoff = createBackoff(() => 1)
    backoff.nextMs()
    backoff.nextMs()
    backoff.reset()
    expect(backoff.nextMs()).toBe(500)
  })
})
