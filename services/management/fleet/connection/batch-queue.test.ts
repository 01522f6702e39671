import { describe, expect, it } from 'vitest'
import { createBatchQueue } from './batch-queue.ts'

describe('the queue of messages from an engine', () => {
  it('handles a single message at once, and the following ones as one batch', async () => {
    const batches: number[][] = []
    const queue = createBatchQueue<number>(async batch => batches.push(batch))
    const pushed = [1, 2, 3, 4].map(queue.push)
    expect(batches).toEqual([[1]])
    await Promise.all(pushed)
    expect(batches).toEqual([[1], [2, 3, 4]])
  })

  it('handles nothing after a batch that failed', async () => {
    const handled: number[] = []
    const queue = createBatchQueue<number>(async batch => {
      if (batch.includes(2)) throw new Error('no disk')
      handled.push(...batch)
    })
    await queue.push(1)
    await expect(queue.push(2)).rejects.toThrow('no disk')
    await expect(queue.push(3)).rejects.toThrow('no disk')
    expect(handled).toEqual([1])
  })

  it('is full with 1000 messages that wait', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const queue = createBatchQueue(() => promise)
    const pushed = Array.from({ length: 1000 }, (_, index) => queue.push(index))
    expect(queue.isFull()).toBe(false)
    pushed.push(queue.push(1000))
    expect(queue.isFull()).toBe(true)
    resolve()
    await Promise.all(pushed)
    expect(queue.isFull()).toBe(false)
  })
})
