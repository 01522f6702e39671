import { setTimeout as wait } from 'node:timers/promises'

/**
 * Reading pauses while this many messages are queued for the next transaction. When messages arrive faster than transactions are
 * stored, large ones store more of them: most of the cost of a transaction does not depend on the number of messages. With more, the
 * transaction of an alert that fires with each message would take too long.
 */
const MAX_QUEUED_MESSAGES = 1000
/** Minimum time between the beginnings of two batches. Without it, a hundred events a second are a hundred transactions. */
const BATCH_INTERVAL_MS = 50

/** Handles messages in batches, in order. */
export interface BatchQueue<Message> {
  /** Resolves when the queue is empty. Rejects when a batch fails. */
  push(message: Message): Promise<void>
  isFull(): boolean
}

/**
 * Creates a queue. Messages that arrive while a batch is being handled, or shortly after it has begun, form the next batch; a
 * single message is handled at once.
 */
export function createBatchQueue<Message>(
  handle: (batch: Message[]) => Promise<unknown>,
): BatchQueue<Message> {
  let queued: Message[] = []
  let nextBatchAt = 0
  /**
   * The drain in progress. Remains set after a failure, so that every later `push` rejects too: messages after the failed
   * batch must not be handled.
   */
  let draining: Promise<void> | undefined

  async function drain(): Promise<void> {
    while (queued.length > 0) {
      const delayMs = nextBatchAt - performance.now()
      if (delayMs > 0) await wait(delayMs)
      nextBatchAt = performance.now() + BATCH_INTERVAL_MS
      const batch = queued
      queued = []
      await handle(batch)
    }
    draining = undefined
  }

  return {
    push(message) {
      queued.push(message)
      draining ??= drain()
      return draining
    },
    isFull: () => queued.length >= MAX_QUEUED_MESSAGES,
  }
}
