import { setTimeout as sleep } from 'node:timers/promises'
import { DURABLE_KINDS } from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import { DroppedMessages } from './dropped-messages.ts'
import type { MessageDraft } from './message-draft.ts'
import type { Sequence } from './message-sequence.ts'
import type { Message } from './output-follower.ts'
import type { OutputLog } from './output-log.ts'

/** Delay between two attempts to write while the disk fails. */
const RETRY_MS = 1000
/**
 * Maximum number of messages in memory, while the disk fails or while there are more than it can
 * store.
 */
const MAX_QUEUED_MESSAGES = 100_000

/**
 * Commits the output messages of the engine in groups: assigns sequence numbers, stores the durable
 * messages on disk and passes all of them on to the clients. Messages that arrive during a write
 * form the next group, so throughput does not depend on the latency of the disk.
 */
export interface CommitQueue {
  /**
   * Queues a message. If the queue is full, the message is dropped; the number of dropped
   * messages is reported later.
   */
  add(draft: MessageDraft): void
  /**
   * Queues a `state` message about the output itself. Call it only during a commit, which then
   * includes the message.
   */
  addStateMessage(state: string, reason: string): void
  /** Whether the last write to disk succeeded. */
  isStoring(): boolean
  /** The last committed sequence number. */
  newest(): number
  /** Continues after the sequence numbers that were used before the engine was restarted. */
  start(): void
  /** Commits the queued messages. Messages added later are ignored. */
  stop(): Promise<void>
}

export interface CommitQueueOptions {
  sequence: Sequence
  store: Pick<OutputLog, 'append'>
  /** Called with every committed message, in order. */
  deliver(message: Message): void
  log: Log
}

export function createCommitQueue({
  sequence,
  store,
  deliver,
  log,
}: CommitQueueOptions): CommitQueue {
  const queue: EncodedMessage[] = []
  let committing: Promise<void> | undefined
  let newest = 0
  let isStoring = true
  let isStopped = false
  const dropped = new DroppedMessages()

  function add(draft: MessageDraft): void {
    if (isStopped) return
    if (queue.length >= MAX_QUEUED_MESSAGES) {
      dropped.add(draft.channel)
      return
    }
    try {
      queue.push(encode(draft))
    } catch (error) {
      const { channel, kind } = draft
      log.error({ err: error, channel, kind }, 'failed to encode message')
      return
    }
    committing ??= commitAll().finally(() => {
      committing = undefined
    })
  }

  async function commitAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0)

      const firstSeq = await retryUntilStored(() => sequence.allocate(batch.length))
      const messages = batch.map((message, index) => assignSeq(message, firstSeq + index))

      const durable = messages.filter(({ kind }) => DURABLE_KINDS.has(kind))
      if (durable.length > 0) await retryUntilStored(() => store.append(durable))

      newest = messages.at(-1)!.seq
      for (const message of messages) deliver(message)
    }
  }

  /**
   * Retries until the disk works again, because a durable message must not be sent
   * before it is stored.
   */
  async function retryUntilStored<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const written = await write()
        if (!isStoring) log.info('output log is writable again')
        isStoring = true
        if (!dropped.isEmpty) addStateMessage('lost', dropped.report())
        return written
      } catch (error) {
        if (isStoring) {
          log.error(
            { err: error, queued: queue.length },
            'failed to write output log, messages are queued',
          )
        }
        isStoring = false
        dropped.recordDiskFailure()
        if (isStopped) throw error
        await sleep(RETRY_MS)
      }
    }
  }

  function addStateMessage(state: string, reason: string): void {
    log.warn({ state, reason }, 'output is degraded')
    const draft: MessageDraft = {
      kind: 'state',
      // The message concerns no channel.
      channel: null,
      source: null,
      pipeline: null,
      pts: null,
      epoch: null,
      time: new Date().toISOString(),
      data: { state, reason },
    }
    queue.push(encode(draft))
  }

  return {
    add,
    addStateMessage,
    isStoring: () => isStoring,
    newest: () => newest,
    start: () => {
      newest = sequence.newest()
    },
    stop: async () => {
      isStopped = true
      await committing?.catch(error => log.error({ err: error }, 'failed to store last messages'))
    },
  }
}

/** A message encoded as JSON, before it is assigned a sequence number. */
type EncodedMessage = Omit<Message, 'seq'>

/** Throws if the data, which may come from a plugin, cannot be encoded as JSON. */
function encode(draft: MessageDraft): EncodedMessage {
  const { kind, channel, source, pipeline, pts, epoch, time, data } = draft
  const text = JSON.stringify({ kind, channel, source, pipeline, pts, epoch, time, data })
  return { kind, channel, text }
}

/**
 * Inserts `seq` as the first property of the JSON text, which avoids encoding the
 * message a second time.
 */
function assignSeq(message: EncodedMessage, seq: number): Message {
  return { ...message, seq, text: `{"seq":${seq},${message.text.slice(1)}` }
}
