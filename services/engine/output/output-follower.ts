import {
  acknowledgement,
  DURABLE_KINDS,
  type Gap,
  type Hello,
  type MessageKind,
  type OutputQuery,
} from '@eyrie/contract'
import { tryParseJson } from '@eyrie/contract/parse'
import type { Log } from '@eyrie/kit/log'
import type { WebSocket } from 'ws'
import type { LogReader } from './log-reader.ts'

/** A client with more unsent bytes than this is slow: frames are skipped. */
const SLOW_BYTES = 256 << 10
/**
 * A client with more unsent bytes than this is far behind: it receives durable messages
 * from the log instead.
 */
const FAR_BEHIND_BYTES = 4 << 20

/** WebSocket close codes (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011

/** A message encoded as JSON. Messages are sent in the order of their sequence numbers. */
export interface Message {
  seq: number
  kind: MessageKind
  channel: number | null
  text: string
}

export interface Socket
  extends Pick<WebSocket, 'send' | 'close' | 'bufferedAmount' | 'readyState' | 'OPEN'> {
  on(event: 'message', listener: (data: unknown) => void): unknown
}

/**
 * A client that receives the output messages of the engine over a WebSocket. A follower first
 * catches up: it sends the durable messages from the log, at the client's pace. Then it is live: it
 * sends each message as it is delivered.
 */
export interface Follower {
  /** Whether the client requested messages of this kind and channel. */
  accepts(message: Pick<Message, 'kind' | 'channel'>): boolean
  /**
   * Sends or skips a committed message. `toBytes` returns the text in UTF-8, which
   * all followers share.
   */
  deliver(message: Message, toBytes: () => Buffer): void
  /** Sends `hello` and starts to catch up. */
  start(): void
}

export interface FollowerOptions {
  socket: Socket
  query: OutputQuery
  /** The first message to the client. */
  hello: Hello
  /** Sequence number of the last message that has been committed. */
  newest: number
  createReader(after: number): LogReader
  log: Log
}

export function createFollower({
  socket,
  query,
  hello,
  newest,
  createReader,
  log,
}: FollowerOptions): Follower {
  const { channels, kinds, since } = query
  const firstRequested = since ?? newest + 1
  /** Number of frames skipped since the last sent one, by channel. */
  const skippedFrames = new Map<number | null, number>()
  /** Sequence number of the last message that was sent, or that the client did not request. */
  let lastSeq = Math.min(Math.max(0, firstRequested - 1), newest)
  let isLive = false

  function accepts({ kind, channel }: Pick<Message, 'kind' | 'channel'>): boolean {
    const isKindRequested = !kinds || kinds.includes(kind)
    const isChannelRequested = !channels || (channel !== null && channels.includes(channel))
    return isKindRequested && isChannelRequested
  }

  /** Resolves when the text has been written to the network, or the connection has been closed. */
  const send = (text: string) => new Promise<void>(resolve => socket.send(text, () => resolve()))

  /** Sends the messages of the log one at a time, each after the previous one was written. */
  async function catchUp(): Promise<void> {
    const reader = createReader(lastSeq)
    while (!reader.isAtEnd() && socket.readyState === socket.OPEN) {
      const { gap, records } = await reader.next()
      if (gap) await send(JSON.stringify({ kind: 'gap', ...gap } satisfies Gap))
      for (const { seq, text } of records) {
        if (accepts(JSON.parse(text))) await send(text)
        lastSeq = seq
      }
    }
    isLive = true
  }

  function startCatchUp(): void {
    isLive = false
    catchUp().catch(error => {
      log.error({ err: error }, 'failed to read output log')
      socket.close(INTERNAL_ERROR, 'failed to read the output log')
    })
  }

  /** Counts only frames, because skipped messages of other kinds are not reported. */
  function countSkippedFrame({ kind, channel }: Message): void {
    if (kind !== 'frame') return
    const skipped = skippedFrames.get(channel) ?? 0
    skippedFrames.set(channel, skipped + 1)
  }

  /** A frame that follows skipped frames has a property `dropped` with their number. */
  function sendLive({ kind, channel, text }: Message, toBytes: () => Buffer): void {
    const skipped = kind === 'frame' ? skippedFrames.get(channel) : undefined
    if (!skipped) {
      socket.send(toBytes(), { binary: false })
      return
    }

    skippedFrames.delete(channel)
    // Appended to the JSON text, which avoids encoding the message again.
    const openObject = text.slice(0, -1)
    socket.send(`${openObject},"dropped":${skipped}}`)
  }

  function deliver(message: Message, toBytes: () => Buffer): void {
    if (!accepts(message)) {
      if (isLive && message.seq > lastSeq) lastSeq = message.seq
      return
    }

    const isSlow = !isLive || socket.bufferedAmount > SLOW_BYTES
    const canSkip = !DURABLE_KINDS.has(message.kind)
    if (canSkip && isSlow) {
      countSkippedFrame(message)
      return
    }

    // During `catchUp`, durable messages are sent from the log.
    if (!isLive || message.seq <= lastSeq) return
    if (socket.bufferedAmount > FAR_BEHIND_BYTES) {
      startCatchUp()
      return
    }

    sendLive(message, toBytes)
    lastSeq = message.seq
  }

  return {
    accepts,
    start: () => {
      void send(JSON.stringify(hello))
      startCatchUp()
    },
    deliver,
  }
}

export interface AcknowledgementOptions {
  /** Sequence number of the last message that the client can have received. */
  newest(): number
  /** Records an acknowledgement; undefined if the client is not a consumer. */
  acknowledge: ((seq: number) => void) | undefined
}

/** Handles `{"ack": seq}` from a client. Any other message closes the connection with a reason. */
export function handleAcknowledgements(
  socket: Socket,
  { newest, acknowledge }: AcknowledgementOptions,
): void {
  const reject = (reason: string) => socket.close(POLICY_VIOLATION, reason)
  socket.on('message', text => {
    if (!acknowledge) return reject('to acknowledge, connect with ?consumer=<name>')

    const message = acknowledgement.safeParse(tryParseJson(String(text)))
    if (!message.success) return reject('invalid message: send only {"ack": <seq>}')

    const { ack: seq } = message.data
    if (seq > newest()) return reject(`${seq} has not been sent yet`)
    acknowledge(seq)
  })
}
