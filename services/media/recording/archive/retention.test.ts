import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { SegmentRow } from './recording-index.ts'
import { deleteAll } from './retention.ts'

/** Blocks the thread, as a slow disk does. */
function block(ms: number): void {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt);
}

it('handles other calls while many segments are deleted', async () => {
  const segments = Array.from({ length: 6 }, (_, id) => ({ id }) as SegmentRow)
  const deleted: number[] = []
  const deletion = deleteAll(segments, ({ id }) => {
    block(60)
    deleted.push(id)
  })
  await yieldToEventLoop()
  const deletedBefore = deleted.length
  expect(deletedBefore).toBeLessThan(segments.length)
  await deletion
  expect(deleted).toEqual([0, 1, 2, 3, 4, 5])
})
