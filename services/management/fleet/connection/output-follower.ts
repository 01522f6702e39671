import type { Client } from '@eyrie/client'
import { DURABLE_KINDS, EyrieError } from '@eyrie/contract'
import { sleep } from '@eyrie/kit'
import type { ReceivedMessage } from '../../events/ingest/ingest-port.ts'
import { createBatchQueue } from './batch-queue.ts'
import { createOutputDelay } from './output-delay.ts'

/** The name under which an engine stores what the management service has acknowledged. */
const CONSUMER = 'management'
/** Engines persist acknowledgements once per second: sending them more often has no effect. */
const ACKNOWLEDGE_INTERVAL_MS = 1000
const MAX_REMOVE_ATTEMPTS = 5
const REMOVE_RETRY_DELAY_MS = 500

// An engine appends the messages of its channels to a log and numbers them: `seq` is the sequence
// number of a message. It retains each message until the management service has acknowledged it.

export interface FollowOptions {
  engine: Client
  /** Called with the id of the engine's output log before the first message is consumed. */
  onHello(logId: string): Promise<void>
  /** Stores messages in order. Resolves to the last sequence number that the engine may discard. */
  consume(messages: ReceivedMessage[]): Promise<number>
}

/** The last stored position. Undefined: start after the last message that was acknowledged. */
type StoredPosition = { log_id: string; seq: number } | undefined

/** Reads the output of an engine over one connection. */
export interface OutputFollower {
  /**
   * Consumes the output until the connection ends or a message cannot be stored. Rejects with the
   * reason. To be called once.
   */
  follow(position: StoredPosition): Promise<never>
  /** As `OutputDelay.getMs`. */
  getDelayMs(): number | undefined
}

export function createOutputFollower({ engine, onHello, consume }: FollowOptions): OutputFollower {
  const acknowledger = createAcknowledger()
  const queue = createBatchQueue<ReceivedMessage>(async batch => {
    const seq = await consume(batch)
    delay.recordStored(seq)
    acknowledger.schedule(seq)
  })
  const delay = createOutputDelay(engine, queue)

  /**
   * Reads the output from the stored position. If the engine has lost that log, reads its new
   * log from the beginning.
   */
  async function readFromStoredPosition(
    position: StoredPosition,
    onFailure: (error: unknown) => void,
  ): Promise<void> {
    const outcome = await readLog(findLogStart(position), onFailure)
    if (outcome === 'log-replaced') await readLog(LOG_BEGINNING, onFailure)
  }

  /**
   * Reads a log until the engine closes its output. Reports a lost connection or a failed
   * batch to `onFailure`.
   */
  async function readLog(
    { since, expectedLogId }: LogStart,
    onFailure: (error: unknown) => void,
  ): Promise<'closed' | 'log-replaced'> {
    const output = engine.output({
      consumer: CONSUMER,
      kinds: [...DURABLE_KINDS],
      since,
      onDisconnect: onFailure,
      onAcknowledgeReady: acknowledger.setSender,
      onPong: delay.recordContact,
    })
    for await (const message of output) {
      if (message.kind === 'hello') {
        if (expectedLogId !== undefined && message.log_id !== expectedLogId) return 'log-replaced'
        await onHello(message.log_id)
      }
      const drained = queue.push(message)
      drained.catch(onFailure)
      if (queue.isFull()) {
        await drained
        delay.recordPause()
      }
    }
    return 'closed'
  }

  return {
    async follow(position) {
      // A lost connection or a failed batch ends the call at once, even while the reader waits
      // for the next message.
      const failure = Promise.withResolvers<never>()
      const ended = new AbortController()
      const reading = readFromStoredPosition(position, failure.reject)
      try {
        await Promise.race([reading, failure.promise, delay.watch(ended.signal)])
      } finally {
        ended.abort()
        acknowledger.stop()
      }
      throw new Error('the engine closed its output')
    },

    getDelayMs: delay.getMs,
  }
}

/** Where to start reading the output, and in which log. */
interface LogStart {
  /** Sequence number of the first message. Undefined: the first unacknowledged message. */
  since: number | undefined
  /** Id of the log to read. Undefined if any log may be read. */
  expectedLogId: string | undefined
}

const LOG_BEGINNING: LogStart = { since: 1, expectedLogId: undefined }

function findLogStart(position: StoredPosition): LogStart {
  if (!position) return { since: undefined, expectedLogId: undefined }
  // Nothing is stored of this log yet, so a new log can be read as well.
  if (position.seq === 0) return LOG_BEGINNING
  return { since: position.seq + 1, expectedLogId: position.log_id }
}

/** Acknowledges the latest sequence number, at most once per interval. */
function createAcknowledger() {
  let send: (seq: number) => void = () => {}
  let latestSeq = 0
  let timer: NodeJS.Timeout | undefined

  return {
    /** Sets the function that acknowledges on the current connection. */
    setSender(sender: (seq: number) => void): void {
      send = sender
    },
    schedule(seq: number): void {
      latestSeq = seq
      timer ??= setTimeout(() => {
        timer = undefined
        send(latestSeq)
      }, ACKNOWLEDGE_INTERVAL_MS)
    },
    stop(): void {
      clearTimeout(timer)
    },
  }
}

/**
 * Deletes the consumer on an engine that is no longer managed, so that the engine stops
 * retaining messages for it.
 */
export async function removeConsumer(engine: Client, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; attempt <= MAX_REMOVE_ATTEMPTS; attempt += 1) {
    try {
      return await engine.consumer.remove(CONSUMER)
    } catch (error) {
      // `reference`: the engine has not noticed yet that the connection is closed. After any other
      // failure the engine's own retention limits apply.
      if (!(error instanceof EyrieError) || error.code !== 'reference') return
    }
    await sleep(REMOVE_RETRY_DELAY_MS, signal)
    if (signal.aborted) return
  }
}
