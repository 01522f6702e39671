import { expect, it } from 'vitest'
import { createMessageHeader } from '../../../../test/fixtures/network/zeromq-publisher.ts'
import { parseFrameMessage } from './frame-message.ts'

/** Parses a message without a picture whose header has this time. */
function parseWithTime(time: string) {
  const header = JSON.stringify(createMessageHeader(1, { time }))
  return parseFrameMessage([Buffer.from('1'), Buffer.from(header), Buffer.alloc(0)])
}

it.each(['1970-01-01T00:00:00Z', '2030-01-01T13:00:00.020+01:00'])(
  'a message from %s is accepted',
  time => expect(parseWithTime(time).header.time).toBe(time),
)

// Go writes a time that is not set as the first day of the year 1.
it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
  'a message from %s is rejected with a reason',
  time =>
    expect(() => parseWithTime(time)).toThrow(
      'its header is invalid at /time: it is not the time of a picture',
    ),
)
