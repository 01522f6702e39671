import { setTimeout as wait } from 'node:timers/promises'

/**
 * Maximum size of a batch: reading pauses while this many messages are queued. Large batches store
 * more messages per second, because most of the cost of a transaction is fixed. Still larger ones
 * would take too long when every message triggers an alert.
 */
const MAX_QUEUED_MESSAGES = 1000
/**
 * Minimum time between the starts of two batches. Without it, a hundred events per second would be
 * a hundred transactions.
 */
const BATCH_INTERVAL_MS = 50

/**
 * Handles messages in batches, in order. Messages that arrive while a batch is being handled, or
 * shortly after it has started, form the next batch. A single message is handled at once.
 */
export interface BatchQueue<Message> {
  /** Resolves when the queue is empty. Rejects when a batch fails. */
  push(message: Message): Promise<void>
  isFull(): boolean
  /** How long the oldest message that is not handled yet has been waiting, in ms; 0 if none is. */
  getDelayMs(): number
}

export function createBatchQueue<Message>(
  handle: (batch: Message[]) => Promise<unknown>,
): BatchQueue<Message> {
  let queued: Message[] = []
  /** When the oldest of the queued messages was queued. */
  let queuedAt = 0
  /** The same of the batch that is being handled. Remains set after a failure. */
  let handledQueuedAt: number | undefined
  let nextBatchAt = 0
  /**
   * The drain in progress. Remains set after a failure, so that every later `push` rejects too:
   * messages after the failed batch must not be handled.
   */
  let draining: Promise<void> | undefined

  async function drain(): Promise<void> {
    while (queued.length > 0) {
      const delayMs = nextBatchAt - performance.now()
      if (delayMs > 0) await wait(delayMs)
      nextBatchAt = performance.now() + BATCH_INTERVAL_MS
      const batch = queued
      queued = []
      handledQueuedAt = queuedAt
      await handle(batch)
      handledQueuedAt = undefined
    }
    draining = undefined
  }

  return {
    push(message) {
      if (queued.length === 0) queuedAt = performance.now()
      queued.push(message)
      draining ??= drain()
      return draining
    },
    isFull: () => queued.length >= MAX_QUEUED_MESSAGES,
    getDelayMs() {
      const oldestAt = handledQueuedAt ?? (queued.length > 0 ? queuedAt : undefined)
      return oldestAt === undefined ? 0 : performance.now() - oldestAt
    },
  }
}
