import { describe, expect, it } from 'vitest'
import { formatMessage } from './watch-command.ts'

describe('a message of eyrie watch', () => {
  it('says how many frames were not sent before it, because the output is read slowly', () => {
    const frame = {
      seq: 9,
      kind: 'frame' as const,
      channel: 1,
      source: 1,
      pipeline: 1,
      pts: 0,
      epoch: 1,
      time: '2026-01-31T12:00:00.000Z',
      data: { n: 9, objects: [], counters: {}, latency: 5 },
      dropped: 7,
    }
    expect(formatMessage(frame, { write() {} })).toMatch(/channel 1 +frame +n=9 .*dropped=7$/)
  })
})
