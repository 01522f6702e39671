import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Consumer, durableKinds, type Hello, type OutputQuery } from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import { createCountCoalescer } from './count-coalescer.ts'
import type { MessageDraft, Publisher } from './message-draft.ts'
import { createSequence } from './message-sequence.ts'
import { createConsumers } from './output-consumers.ts'
import {
  createFollower,
  type Follower,
  handleAcknowledgements,
  type Message,
  type Socket,
} from './output-follower.ts'
import { createOutputLog } from './output-log.ts'

/** Delay between attempts while the disk fails. */
const RETRY_MS = 1000
/** Maximum number of messages in memory while the disk fails. */
const MAX_QUEUED = 100_000
/** An alarm is raised when this share of the log waits for a disconnected consumer. */
const MAX_LOG_SHARE = 0.5

export interface OutputOptions {
  /** Folder of the durable log. */
  folder: string
  logBytes: number
  segmentBytes?: number
  log: Log
}

/**
 * Numbers messages, stores the durable ones and sends them to clients in the order of their numbers. Messages that arrive
 * during a write to disk are committed together afterwards: a slow disk makes larger groups.
 */
export interface Output extends Publisher {
  /** Throws an Error if the log on disk is damaged. */
  start(): Promise<void>
  /** Registers the consumer of a query, if it has one. Throws `EyrieError` (`capacity`) if there are too many. */
  registerConsumer(query: OutputQuery): void
  /** Connects a client. Returns a function to call when it has disconnected. */
  follow(socket: Socket, query: OutputQuery): () => void
  /** The last sent number, whether messages can be stored, and alarms that require an operator. */
  status(): { newest: number; followers: number; storing: boolean; alarms: string[] }
  listConsumers(): Consumer[]
  /** Throws `EyrieError`: `id` if the consumer is unknown, `reference` while it is connected. */
  removeConsumer(consumer: string): Promise<void>
  stop(): Promise<void>
}

export function createOutput({ folder, logBytes, segmentBytes, log }: OutputOptions): Output {
  const store = createOutputLog({
    folder: join(folder, 'log'),
    maxBytes: logBytes,
    segmentBytes,
    onRemoved: upTo => {
      const names = consumers.listBehind(upTo)
      if (names.length > 0) queueOwnState('overrun', describeOverrun(names, upTo))
    },
    log,
  })
  const consumers = createConsumers(join(folder, 'consumers.json'), log)
  const sequence = createSequence(folder)
  const followers = new Set<Follower>()
  const queue: EncodedMessage[] = []
  const counts = createCountCoalescer(enqueue)
  let committing: Promise<void> | undefined
  let newest = 0
  let isStoring = true
  let isStopped = false
  /** Messages dropped since the disk began to fail. */
  let lostMessages = 0

  function enqueue(draft: MessageDraft): void {
    if (isStopped || !(durableKinds.has(draft.kind) || isRequested(draft))) return
    if (queue.length >= MAX_QUEUED) {
      lostMessages += 1
      return
    }
    try {
      queue.push(encode(draft))
    } catch (error) {
      const { channel, kind } = draft
      log.error({ err: error, channel, kind }, 'failed to serialise message')
      return
    }
    committing ??= commitQueue().finally(() => {
      committing = undefined
    })
  }

  /** A message that is not durable is not even encoded unless a client requests it and the disk works. */
  function isRequested(draft: MessageDraft): boolean {
    return isStoring && [...followers].some(follower => follower.accepts(draft))
  }

  async function commitQueue(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0)
      const first = await retryUntilStored(() => sequence.allocate(batch.length))
      const messages = batch.map((message, index) => assignNumber(message, first + index))
      const durable = messages.filter(({ kind }) => durableKinds.has(kind))
      if (durable.length > 0) await retryUntilStored(() => store.append(durable))
      newest = messages.at(-1)!.seq
      if (followers.size > 0) for (const message of messages) deliver(message)
    }
  }

  /** Encodes a message once for all followers. */
  function deliver(message: Message): void {
    let bytes: Buffer | undefined
    const toBytes = () => {
      bytes ??= Buffer.from(message.text)
      return bytes
    }
    for (const follower of followers) follower.deliver(message, toBytes)
  }

  /** Retries until the disk works again: a durable message is not sent before it is stored. */
  async function retryUntilStored<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await attempt()
        if (!isStoring) log.info('output log is writable again')
        isStoring = true
        if (lostMessages > 0) reportLoss()
        return result
      } catch (error) {
        log.error({ err: error, queued: queue.length }, 'failed to write output log; messages are queued')
        isStoring = false
        if (isStopped) throw error
        await sleep(RETRY_MS)
      }
    }
  }

  function reportLoss(): void {
    const reason = `${lostMessages} messages were lost while the disk took none: free some space`
    lostMessages = 0
    queueOwnState('lost', reason)
  }

  /** Queues a state message about the output itself. */
  function queueOwnState(state: string, reason: string): void {
    log.warn({ state, reason }, 'output is degraded')
    const noPlace = { channel: null, source: null, pipeline: null, pts: null, epoch: null }
    const time = new Date().toISOString()
    queue.push(encode({ kind: 'state', ...noPlace, time, data: { state, reason } }))
  }

  function listAlarms(): string[] {
    const removedUpTo = store.removedUpTo()
    const overrun = consumers.listBehind(removedUpTo)
    const alarms: string[] = []
    if (!isStoring) alarms.push('the disk takes no messages of the output log: free some space')
    if (overrun.length > 0) alarms.push(describeOverrun(overrun, removedUpTo))
    for (const consumer of listConsumers()) {
      const isFarBehind = !consumer.connected && consumer.held >= MAX_LOG_SHARE
      if (isFarBehind && !overrun.includes(consumer.name)) alarms.push(describeFarBehind(consumer))
    }
    return alarms
  }

  function listConsumers(): Consumer[] {
    return consumers.list().map(consumer => ({ ...consumer, held: store.shareAfter(consumer.acknowledged) }))
  }

  function registerConsumer({ consumer, since }: OutputQuery): void {
    if (!consumer) return
    const start = since === undefined ? newest : Math.min(since - 1, newest)
    consumers.register(consumer, Math.max(start, store.removedUpTo()))
  }

  return {
    start: async () => {
      await sequence.open()
      await consumers.open()
      await store.open()
      newest = sequence.newest()
    },
    publish: draft => (draft.kind === 'count' ? counts.add(draft) : enqueue(draft)),
    registerConsumer,
    follow: (socket, query) => {
      const { consumer, since } = query
      registerConsumer(query)
      const acknowledged = consumer ? consumers.connect(consumer) : newest
      handleAcknowledgements(socket, {
        newest: () => newest,
        acknowledge: consumer ? seq => consumers.acknowledge(consumer, seq) : undefined,
      })
      const hello: Hello = {
        kind: 'hello',
        log_id: sequence.logId(),
        oldest: store.removedUpTo() + 1,
        newest: store.last(),
      }
      const follower = createFollower({
        socket,
        query: { ...query, since: since ?? acknowledged + 1 },
        hello,
        newest,
        createReader: store.createReader,
        log,
      })
      followers.add(follower)
      follower.start()
      return () => {
        if (followers.delete(follower) && consumer) consumers.disconnect(consumer)
      }
    },
    status: () => ({ newest, followers: followers.size, storing: isStoring, alarms: listAlarms() }),
    listConsumers,
    removeConsumer: name => consumers.remove(name),
    stop: async () => {
      counts.flush()
      isStopped = true
      await committing?.catch(error => log.error({ err: error }, 'failed to store the last messages'))
      await store.close()
      await consumers.close()
      await sequence
        .close()
        .catch(error => log.warn({ err: error }, 'failed to release message numbers; some will be skipped'))
    },
  }
}

const describeOverrun = (consumers: string[], upTo: number) =>
  `messages up to ${upTo} were removed before ${consumers.join(', ')} acknowledged them: let them follow, or enlarge the log`

const describeFarBehind = ({ name, seen, held }: Consumer) =>
  `${Math.floor(100 * held)} % of the output log waits for ${name}, which was last seen at ${seen}: let it follow, or DELETE /api/v3/consumers/${name}`

/** A serialised message that has no number yet. */
type EncodedMessage = Omit<Message, 'seq'>

/** Throws if a plugin's data cannot be serialised as JSON. */
function encode({ kind, channel, source, pipeline, pts, epoch, time, data }: MessageDraft): EncodedMessage {
  return { kind, channel, text: JSON.stringify({ kind, channel, source, pipeline, pts, epoch, time, data }) }
}

/** Inserts `seq` as the first property of the JSON text. */
function assignNumber(message: EncodedMessage, seq: number): Message {
  return { ...message, seq, text: `{"seq":${seq},${message.text.slice(1)}` }
}
