import { beforeEach, describe, expect, it } from 'vitest'
import { DroppedMessages } from './dropped-messages.ts'

describe('dropped messages', () => {
  let dropped: DroppedMessages

  beforeEach(() => {
    dropped = new DroppedMessages()
    for (const channel of [null, 7, 7, 8]) dropped.add(channel)
  })

  it('are reported with the channel that has lost most of them', () => {
    expect(dropped.report()).toMatch(/^4 messages were lost, .* 2 of them on channel 7: /)
  })

  it('are attributed to the disk if it has failed since the last report', () => {
    dropped.recordDiskFailure()
    expect(dropped.report()).toMatch(/^4 messages were lost while the disk could not be written/)
    dropped.add(8)
    expect(dropped.report()).toMatch(/^1 messages were lost, because /)
  })

  it('are reported only once', () => {
    dropped.report()
    expect(dropped.isEmpty).toBe(true)
  })
})
