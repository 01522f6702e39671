import { expect, it } from 'vitest'
import { systemClock } from '../../runtime/clock.ts'
import { parseResponse } from './http-response.ts'

const NOON = Date.UTC(2027, 2, 1, 12)

/** Parses a response at noon with this header `X-Pts`, as `souphttpsrc` reports it. */
const parseWithPts = (pts: string) =>
  parseResponse(
    {
      type: 'element',
      source: 'origin',
      name: 'http-headers',
      fields: { 'http-status-code': '200', 'response-headers': `headers, X-Pts=(string)${pts}` },
    },
    { ...systemClock, wall: () => NOON },
  )

it('the wall clock of a stream is derived from the stream time that its server sends', () => {
  const tenSeconds = '900000'
  expect(parseWithPts(tenSeconds)?.anchorUs).toBe((NOON - 10_000) * 1000)
})

it.each(['1e30', '-1e30', 'never'])(
  'the wall clock of a stream is unknown if its server sends the stream time %s',
  pts => expect(parseWithPts(pts)?.anchorUs).toBeUndefined(),
)
