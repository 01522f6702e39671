import { expect, it } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

it('a token bucket permits a burst, and its rate in the long run', () => {
  const bucket = new TokenBucket(10, 2, 0)
  expect([bucket.take(10, 0), bucket.take(1, 0), bucket.take(1, 499), bucket.take(1, 500)]).toEqual(
    [true, false, false, true],
  )
  // Unused tokens beyond the burst are lost.
  expect([bucket.take(11, 60_000), bucket.take(10, 60_000), bucket.take(1, 60_000)]).toEqual([
    false,
    true,
    false,
  ])
})
