import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { StoredFile } from './damaged-files.ts'
import { deleteAll } from './retention.ts'

/** Blocks the thread, as a slow disk does. */
function block(ms: number): void {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt);
}

it('handles other calls while many files are deleted', async () => {
  const files = Array.from({ length: 6 }, (_, n) => ({ file: `${n}` }) as StoredFile)
  const deleted: string[] = []
  const deletion = deleteAll(files, ({ file }) => {
    block(60)
    deleted.push(file)
  })
  await yieldToEventLoop()
  const deletedBefore = deleted.length
  expect(deletedBefore).toBeLessThan(files.length)
  await deletion
  expect(deleted).toEqual(['0', '1', '2', '3', '4', '5'])
})
