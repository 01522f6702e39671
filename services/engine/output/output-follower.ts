import {
  acknowledgement,
  durableKinds,
  type Gap,
  type Hello,
  type MessageKind,
  type OutputQuery,
} from '@eyrie/contract'
import { tryParseJson } from '@eyrie/contract/parse'
import type { Log } from '@eyrie/kit/log'
import type { WebSocket } from 'ws'
import type { LogReader } from './log-reader.ts'

/** A client with more buffered bytes than this is slow: frames are skipped. */
const SLOW_BYTES = 256 << 10
/** A client with more buffered bytes than this is far behind: it gets durable messages from the log. */
const BEHIND_BYTES = 4 << 20

/** WebSocket close codes (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011

/** An encoded message. Messages are sent in the order of their numbers. */
export interface Message {
  seq: number
  kind: MessageKind
  channel: number | null
  text: string
}

export interface Socket extends Pick<WebSocket, 'send' | 'close' | 'bufferedAmount' | 'readyState' | 'OPEN'> {
  on(event: 'message', listener: (data: unknown) => void): unknown
}

/** A client of the output. It receives what the log holds from `since` on, then live messages. */
export interface Follower {
  /** Whether the client requested messages of this kind and channel. */
  accepts(message: Pick<Message, 'kind' | 'channel'>): boolean
  /** Sends or skips a committed message. `toBytes` returns its encoded text, which all followers share. */
  deliver(message: Message, toBytes: () => Buffer): void
  /** Sends hello and the messages of the log, then goes live. */
  start(): void
}

export interface FollowerOptions {
  socket: Socket
  query: OutputQuery
  hello: Hello
  /** Number of the last message that was delivered to the existing followers. */
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
  /** Number of skipped frames since the last one that was sent, by channel. */
  const skippedFrames = new Map<number | null, number>()
  let lastSeq = since === undefined ? newest : Math.min(Math.max(0, since - 1), newest)
  let isLive = false

  const accepts = ({ kind, channel }: Pick<Message, 'kind' | 'channel'>) =>
    (!kinds || kinds.includes(kind)) && (!channels || (channel !== null && channels.includes(channel)))

  const skip = ({ kind, channel }: Message) => {
    if (kind === 'frame') skippedFrames.set(channel, (skippedFrames.get(channel) ?? 0) + 1)
  }

  const sendLive = ({ kind, channel, text }: Message, toBytes: () => Buffer) => {
    const skipped = kind === 'frame' && skippedFrames.get(channel)
    if (!skipped) return socket.send(toBytes(), { binary: false })
    skippedFrames.delete(channel)
    socket.send(`${text.slice(0, -1)},"dropped":${skipped}}`)
  }

  const send = (text: string) => new Promise<void>(resolve => socket.send(text, () => resolve()))

  /** Sends from the log at the client's pace until the end of the log, then goes live. */
  const catchUp = async () => {
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

  const startCatchUp = () => {
    isLive = false
    catchUp().catch(error => {
      log.error({ err: error }, 'failed to read the output log')
      socket.close(INTERNAL_ERROR, 'the output log cannot be read')
    })
  }

  return {
    accepts,
    start: () => {
      void send(JSON.stringify(hello))
      startCatchUp()
    },
    deliver: (message, toBytes) => {
      const isAccepted = accepts(message)
      const isDurable = durableKinds.has(message.kind)
      if (isAccepted && !isDurable && (!isLive || socket.bufferedAmount > SLOW_BYTES)) return skip(message)
      if (!isLive || message.seq <= lastSeq) return
      if (isAccepted && socket.bufferedAmount > BEHIND_BYTES) return startCatchUp()
      if (isAccepted) sendLive(message, toBytes)
      lastSeq = message.seq
    },
  }
}

export interface AcknowledgementOptions {
  /** Number of the last message that the client may have received. */
  newest(): number
  /** Undefined if the client is not a consumer. */
  acknowledge: ((seq: number) => void) | undefined
}

/** Handles `{"ack": seq}` from a client. Closes the connection after any other message, with the reason. */
export function handleAcknowledgements(
  socket: Socket,
  { newest, acknowledge }: AcknowledgementOptions,
): void {
  const reject = (reason: string) => socket.close(POLICY_VIOLATION, reason)
  socket.on('message', data => {
    if (!acknowledge) return reject('to acknowledge, connect with ?consumer=<name>')
    const message = acknowledgement.safeParse(tryParseJson(String(data)))
    if (!message.success) return reject('send {"ack": <seq>} and nothing else')
    if (message.data.ack > newest()) return reject(`${message.data.ack} has not been sent yet`)
    acknowledge(message.data.ack)
  })
}
