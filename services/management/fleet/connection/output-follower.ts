import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@eyrie/client'
import { durableKinds, EyrieError } from '@eyrie/contract'
import type { ReceivedMessage } from '../../events/ingest/ingest-port.ts'

/** The consumer name under which engines track the position of management. */
const CONSUMER = 'management'
/** Maximum number of messages in one transaction, and of messages queued for the next one. */
const MAX_BATCH = 500
/** Engines persist acknowledger once per second: more frequent ones have no effect. */
const ACKNOWLEDGE_INTERVAL_MS = 1000
const REMOVE_ATTEMPTS = 5
const REMOVE_RETRY_MS = 500

export interface FollowOptions {
  engine: Client
  /** The last stored position; undefined: start where the engine's record of this consumer ends. */
  position: { log_id: string; seq: number } | undefined
  /** Called before the first message is consumed. */
  onHello(log_id: string): Promise<void>
  /** Stores messages in order. Resolves to the last sequence number that the engine may discard. */
  consume(messages: ReceivedMessage[]): Promise<number>
}

/** Consumes the engine's output until the connection ends; rejects with the reason. */
export async function followOutput({ engine, position, onHello, consume }: FollowOptions): Promise<never> {
  const failed = Promise.withResolvers<never>()

  async function readOutput(since: number | undefined): Promise<'closed' | 'log-replaced'> {
    const acknowledger = createAcknowledger()
    const queue = createBatchQueue(async batch => acknowledger.schedule(await consume(batch)))
    const output = engine.output({
      consumer: CONSUMER,
      kinds: [...durableKinds],
      since,
      onDisconnect: failed.reject,
      onAcknowledgeReady: acknowledger.sendWith,
    })
    try {
      for await (const message of output) {
        if (message.kind === 'hello') {
          if (since !== 1 && position && message.log_id !== position.log_id) return 'log-replaced'
          await onHello(message.log_id)
        }
        const drained = queue.push(message)
        drained.catch(failed.reject)
        if (queue.isFull()) await drained
      }
      return 'closed'
    } finally {
      acknowledger.stop()
    }
  }

  const end = await Promise.race([failed.promise, readOutput(position && position.seq + 1)])
  // The position belongs to a log that no longer exists: the new one is read from its beginning.
  if (end === 'log-replaced') await Promise.race([failed.promise, readOutput(1)])
  throw new Error('the engine has closed its output')
}

/** Handles messages in batches: messages that arrive while a batch is handled form the next one. */
function createBatchQueue(handle: (batch: ReceivedMessage[]) => Promise<void>) {
  let queued: ReceivedMessage[] = []
  let draining: Promise<void> | undefined

  async function drain(): Promise<void> {
    while (queued.length > 0) {
      const batch = queued
      queued = []
      await handle(batch)
    }
    draining = undefined
  }

  return {
    /** Resolves once the queue is empty; rejects when a batch fails. */
    push(message: ReceivedMessage): Promise<void> {
      queued.push(message)
      draining ??= drain()
      return draining
    },
    isFull: () => queued.length >= MAX_BATCH,
  }
}

/** Acknowledges the latest sequence number, at most once per interval. */
function createAcknowledger() {
  let send: (seq: number) => void = () => {}
  let latest = 0
  let timer: NodeJS.Timeout | undefined
  return {
    /** Sets the function that sends to the current connection. */
    sendWith(sendToEngine: (seq: number) => void): void {
      send = sendToEngine
    },
    schedule(seq: number): void {
      latest = seq
      timer ??= setTimeout(() => {
        timer = undefined
        send(latest)
      }, ACKNOWLEDGE_INTERVAL_MS)
    },
    stop(): void {
      clearTimeout(timer)
    },
  }
}

/** Deletes the consumer on an engine that is no longer managed, so that it retains no messages for it. */
export async function removeConsumer(engine: Client, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; attempt <= REMOVE_ATTEMPTS; attempt += 1) {
    try {
      return await engine.consumer.remove(CONSUMER)
    } catch (error) {
      // The engine refuses while it still counts our closed connection; any other failure is left to its retention limits.
      if (!(error instanceof EyrieError) || error.code !== 'reference') return
      await wait(REMOVE_RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
}
