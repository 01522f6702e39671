import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Consumer, durableKinds, type Hello, type OutputQuery } from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import { takeAcknowledgements } from './acknowledge.ts'
import { createConsumers } from './consumers.ts'
import { createCoalescer } from './count-coalescer.ts'
import { createFollower, type Follower, type Message, type Socket } from './follower.ts'
import type { MessageDraft, Publisher } from './message-draft.ts'
import { createOutputLog } from './output-log.ts'
import { createSequence } from './sequence.ts'

/** While the disk refuses to take messages: how long between attempts, and how many messages wait in memory. */
const RETRY_MS = 1000
const MOST_WAITING = 100_000
/** A consumer that is away is told of when so much of the log waits for it. */
const MOST_HELD = 0.5

export interface OutputDependencies {
  /** Folder of the durable log. */
  folder: string
  logBytes: number
  segmentBytes?: number
  log: Log
}

/**
 * Numbers messages, keeps the durable ones on disk and sends them to whoever follows, in the order of their numbers.
 * Messages that come while the disk is being synced are committed together next: a slow disk makes larger groups.
 */
export interface Output extends Publisher {
  /** Throws an Error if the log on disk cannot be trusted. */
  start(): Promise<void>
  /** Makes room for the consumer of a query, if it has one. Throws EyrieError `capacity` where there are too many. */
  admit(query: OutputQuery): void
  /** Connects a client; returns what is to be called when it has gone. */
  follow(socket: Socket, query: OutputQuery): () => void
  /** The last number sent, whether the disk takes messages, and what a person has to do something about. */
  status(): { newest: number; followers: number; storing: boolean; alarms: string[] }
  consumers(): Consumer[]
  /** Forgets a consumer. Throws EyrieError: `id` where there is none, `reference` while it is connected. */
  forget(consumer: string): Promise<void>
  stop(): Promise<void>
}

export function createOutput({ folder, logBytes, segmentBytes, log }: OutputDependencies): Output {
  const store = createOutputLog({
    folder: join(folder, 'log'),
    bytes: logBytes,
    segmentBytes,
    onRemoved: upTo => {
      const names = consumers.behind(upTo)
      if (names.length > 0) announce('overrun', overrun(names, upTo))
    },
    log,
  })
  const consumers = createConsumers(join(folder, 'consumers.json'), log)
  const sequence = createSequence(folder)
  const followers = new Set<Follower>()
  const waiting: Unnumbered[] = []
  let committing: Promise<void> | undefined
  let newest = 0
  let isStoring = true
  let isStopped = false
  let lost = 0

  const isAskedFor = (draft: MessageDraft) => [...followers].some(follower => follower.wants(draft))
  const enqueue = (draft: MessageDraft) => {
    // What is not kept is for those who ask for it: where there is nobody, it is not even written.
    const isWanted = durableKinds.has(draft.kind) || (isStoring && isAskedFor(draft))
    if (isStopped || !isWanted) return
    if (waiting.length >= MOST_WAITING) {
      lost += 1
      return
    }
    try {
      waiting.push(encode(draft))
    } catch (error) {
      log.error(
        { err: error, channel: draft.channel, kind: draft.kind },
        'a message that is no JSON is left out',
      )
      return
    }
    committing ??= commit().finally(() => {
      committing = undefined
    })
  }
  const counts = createCoalescer(enqueue)

  const commit = async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0)
      const first = await persist(() => sequence.take(batch.length))
      const messages = batch.map((message, index) => number(message, first + index))
      const durable = messages.filter(({ kind }) => durableKinds.has(kind))
      if (durable.length > 0) await persist(() => store.append(durable))
      newest = messages.at(-1)!.seq
      if (followers.size > 0) for (const message of messages) offer(message)
    }
  }

  /** However many follow, a message is encoded once. */
  const offer = (message: Message) => {
    let bytes: Buffer | undefined
    const encoded = () => {
      bytes ??= Buffer.from(message.text)
      return bytes
    }
    for (const follower of followers) follower.offer(message, encoded)
  }

  /** Tries until the disk takes it: what is durable is not sent before it is kept. */
  const persist = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        const result = await attempt()
        if (!isStoring) log.info('the output log can be written again')
        isStoring = true
        if (lost > 0) tellLoss()
        return result
      } catch (error) {
        log.error({ err: error, waiting: waiting.length }, 'the output log cannot be written: messages wait')
        isStoring = false
        if (isStopped) throw error
        await delay(RETRY_MS)
      }
    }
  }

  const tellLoss = () => {
    const reason = `${lost} messages were lost while the disk took none: free some space`
    lost = 0
    announce('lost', reason)
  }

  /** Says something of the output itself. */
  const announce = (state: string, reason: string) => {
    log.warn({ state }, reason)
    const nowhere = { channel: null, source: null, pipeline: null, pts: null, epoch: null }
    const time = new Date().toISOString()
    waiting.push(encode({ kind: 'state', ...nowhere, time, data: { state, reason } }))
  }

  const alarms = () => {
    const names = consumers.behind(store.floor())
    const away = list().filter(
      ({ name, connected, held }) => !connected && held >= MOST_HELD && !names.includes(name),
    )
    return [
      ...(isStoring ? [] : ['the disk takes no messages of the output log: free some space']),
      ...(names.length > 0 ? [overrun(names, store.floor())] : []),
      ...away.map(awayFor),
    ]
  }

  const list = () =>
    consumers.list().map(consumer => ({ ...consumer, held: store.held(consumer.acknowledged) }))

  const admit = ({ consumer, since }: OutputQuery) => {
    const before = Math.min(since === undefined ? newest : since - 1, newest)
    if (consumer) consumers.admit(consumer, Math.max(before, store.floor()))
  }

  return {
    start: async () => {
      await sequence.open()
      await consumers.open()
      await store.open()
      newest = sequence.newest()
    },
    publish: draft => (draft.kind === 'count' ? counts.add(draft) : enqueue(draft)),
    admit,
    follow: (socket, { consumer, ...given }) => {
      admit({ consumer, ...given })
      const acknowledged = consumer ? consumers.join(consumer) : newest
      const query = { ...given, since: given.since ?? acknowledged + 1 }
      takeAcknowledgements(socket, {
        newest: () => newest,
        acknowledge: consumer ? seq => consumers.acknowledge(consumer, seq) : undefined,
      })
      const hello: Hello = {
        kind: 'hello',
        log_id: sequence.logId(),
        oldest: store.floor() + 1,
        newest: store.last(),
      }
      const follower = createFollower({ socket, query, hello, newest, reader: store.reader, log })
      followers.add(follower)
      follower.start()
      return () => {
        if (followers.delete(follower) && consumer) consumers.leave(consumer)
      }
    },
    status: () => ({ newest, followers: followers.size, storing: isStoring, alarms: alarms() }),
    consumers: list,
    forget: name => consumers.forget(name),
    stop: async () => {
      counts.flush()
      isStopped = true
      await committing?.catch(error => log.error({ err: error }, 'the last messages could not be kept'))
      await store.close()
      await consumers.close()
      await sequence.close().catch(error => log.warn({ err: error }, 'the next start skips some numbers'))
    },
  }
}

const overrun = (consumers: string[], upTo: number) =>
  `messages up to ${upTo} are gone that ${consumers.join(', ')} had not acknowledged: let them follow, or enlarge the log`

const awayFor = ({ name, seen, held }: Consumer) =>
  `${Math.floor(100 * held)} % of the output log waits for ${name}, which was last seen at ${seen}: let it follow, or DELETE /api/v3/consumers/${name}`

type Unnumbered = Omit<Message, 'seq'>

/** Throws if a plugin's data cannot be JSON. */
function encode({ kind, channel, source, pipeline, pts, epoch, time, data }: MessageDraft): Unnumbered {
  return { kind, channel, text: JSON.stringify({ kind, channel, source, pipeline, pts, epoch, time, data }) }
}

function number(message: Unnumbered, seq: number): Message {
  return { ...message, seq, text: `{"seq":${seq},${message.text.slice(1)}` }
}
