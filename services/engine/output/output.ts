import { join } from 'node:path'
import { type Consumer, DURABLE_KINDS, type Hello, type OutputQuery } from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import { createCommitQueue } from './commit-queue.ts'
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

/** An alarm is raised when a disconnected consumer has not acknowledged this share of the log. */
const MAX_LOG_SHARE = 0.5

/** Where the output stores its files. */
export interface OutputOptions {
  /** Folder of the output log, the sequence numbers and the consumers. */
  folder: string
  /** Maximum size of the output log. */
  logBytes: number
  segmentBytes?: number
  log: Log
}

/**
 * The stream of messages from all channels to the clients of the API. Each message is assigned a
 * sequence number, stored if it is durable, and then sent to the clients that requested it.
 */
export interface Output extends Publisher {
  /** Throws an Error if a stored file is damaged. */
  start(): Promise<void>
  /**
   * Registers the consumer (a client with a stored position) that the query names, if any. Throws
   * `EyrieError` (`capacity`) if there are too many consumers.
   */
  registerConsumer(query: OutputQuery): void
  /** Sends messages to a client. Returns a function to call when the client has disconnected. */
  follow(socket: Socket, query: OutputQuery): () => void
  status(): OutputStatus
  listConsumers(): Consumer[]
  /** Throws `EyrieError`: `id` if the consumer is unknown, `reference` while it is connected. */
  removeConsumer(consumer: string): Promise<void>
  stop(): Promise<void>
}

export interface OutputStatus {
  /** Sequence number of the last committed message. */
  newest: number
  /** Number of connected clients. */
  followers: number
  /** Whether durable messages can be stored. */
  storing: boolean
  /** Conditions that require action by an operator. */
  alarms: string[]
}

export function createOutput({ folder, logBytes, segmentBytes, log }: OutputOptions): Output {
  const followers = new Set<Follower>()
  const sequence = createSequence(folder)
  const consumers = createConsumers(join(folder, 'consumers.json'), log)
  const store = createOutputLog({
    folder: join(folder, 'log'),
    maxBytes: logBytes,
    segmentBytes,
    onRemoved: reportOverrun,
    log,
  })
  const commits = createCommitQueue({ sequence, store, deliver, log })
  const counts = createCountCoalescer(commitIfNeeded)

  /** Adds a message if the log removed messages that a consumer has not acknowledged. */
  function reportOverrun(removedUpTo: number): void {
    const names = consumers.listBehind(removedUpTo)
    if (names.length > 0) commits.addStateMessage('overrun', describeOverrun(names, removedUpTo))
  }

  /**
   * Messages that are not durable are committed only if the disk works and a client requested them.
   */
  function commitIfNeeded(draft: MessageDraft): void {
    const isNeeded = DURABLE_KINDS.has(draft.kind) || (commits.isStoring() && isRequested(draft))
    if (isNeeded) commits.add(draft)
  }

  function isRequested(draft: MessageDraft): boolean {
    return [...followers].some(follower => follower.accepts(draft))
  }

  /** Passes a committed message to all followers. It is encoded at most once. */
  function deliver(message: Message): void {
    if (followers.size === 0) return

    let bytes: Buffer | undefined
    const toBytes = () => {
      bytes ??= Buffer.from(message.text)
      return bytes
    }
    for (const follower of followers) follower.deliver(message, toBytes)
  }

  function listConsumers(): Consumer[] {
    return consumers
      .list()
      .map(consumer => ({ ...consumer, held: store.shareAfter(consumer.acknowledged) }))
  }

  function listAlarms(): string[] {
    const storeAlarms = commits.isStoring()
      ? []
      : ['failed to write the output log: free some disk space']
    return [...storeAlarms, ...describeConsumerAlarms(listConsumers(), store.removedUpTo())]
  }

  function registerConsumer({ consumer, since }: OutputQuery): void {
    if (!consumer) return
    const lastCommitted = commits.newest()
    const start = since === undefined ? lastCommitted : Math.min(since - 1, lastCommitted)
    consumers.register(consumer, Math.max(start, store.removedUpTo()))
  }

  /**
   * Describes the durable messages in the log. `newest` can therefore be less than the
   * last committed message.
   */
  function createHello(): Hello {
    return {
      kind: 'hello',
      log_id: sequence.logId(),
      oldest: store.removedUpTo() + 1,
      newest: store.lastSeq(),
    }
  }

  /**
   * Adds a follower that starts with message `since` or, without it, after the
   * message `acknowledged`.
   */
  function addFollower(socket: Socket, query: OutputQuery, acknowledged: number): Follower {
    const follower = createFollower({
      socket,
      query: { ...query, since: query.since ?? acknowledged + 1 },
      hello: createHello(),
      newest: commits.newest(),
      createReader: store.createReader,
      log,
    })
    followers.add(follower)
    follower.start()
    return follower
  }

  function followAnonymously(socket: Socket, query: OutputQuery): () => void {
    handleAcknowledgements(socket, { newest: commits.newest, acknowledge: undefined })
    const follower = addFollower(socket, query, commits.newest())
    return () => followers.delete(follower)
  }

  function followAsConsumer(socket: Socket, query: OutputQuery, name: string): () => void {
    registerConsumer(query)
    const acknowledged = consumers.connect(name)
    handleAcknowledgements(socket, {
      newest: commits.newest,
      acknowledge: seq => consumers.acknowledge(name, seq),
    })
    const follower = addFollower(socket, query, acknowledged)
    return () => {
      if (followers.delete(follower)) consumers.disconnect(name)
    }
  }

  return {
    start: async () => {
      await sequence.open()
      await consumers.open()
      await store.open()
      commits.start()
    },
    publish: draft => {
      if (draft.kind === 'count') return counts.add(draft)
      // Counters start at zero after the state `starting`: earlier counts must not follow it.
      if (draft.kind === 'state') counts.flushChannel(draft.channel)
      commitIfNeeded(draft)
    },
    registerConsumer,
    follow: (socket, query) =>
      query.consumer
        ? followAsConsumer(socket, query, query.consumer)
        : followAnonymously(socket, query),
    status: () => ({
      newest: commits.newest(),
      followers: followers.size,
      storing: commits.isStoring(),
      alarms: listAlarms(),
    }),
    listConsumers,
    removeConsumer: name => consumers.remove(name),
    stop: async () => {
      counts.flush()
      await commits.stop()
      await store.close()
      await consumers.close()
      await sequence
        .close()
        .catch(error => log.warn({ err: error }, 'failed to release unused sequence numbers'))
    },
  }
}

/**
 * Describes the consumers that have missed messages, and the consumers that may miss messages soon.
 */
function describeConsumerAlarms(consumers: readonly Consumer[], removedUpTo: number): string[] {
  const alarms: string[] = []
  const hasMissedMessages = ({ acknowledged }: Consumer) => acknowledged < removedUpTo
  const overrunNames = consumers.filter(hasMissedMessages).map(({ name }) => name)
  if (overrunNames.length > 0) alarms.push(describeOverrun(overrunNames, removedUpTo))

  for (const consumer of consumers) {
    const isFarBehind = !consumer.connected && consumer.held >= MAX_LOG_SHARE
    if (isFarBehind && !hasMissedMessages(consumer)) alarms.push(describeFarBehind(consumer))
  }
  return alarms
}

function describeOverrun(consumers: string[], upTo: number): string {
  const names = consumers.join(', ')
  return `messages up to ${upTo} were removed before ${names} acknowledged them: reconnect the consumers, or enlarge the log`
}

function describeFarBehind({ name, seen, held }: Consumer): string {
  const percent = Math.floor(100 * held)
  return (
    `${percent} % of the output log is retained for consumer ${name}, last seen at ${seen}: ` +
    `reconnect it, or remove it with DELETE /api/v3/consumers/${name}`
  )
}
