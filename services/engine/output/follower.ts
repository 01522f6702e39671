import { durableKinds, type Gap, type Hello, type MessageKind, type OutputQuery } from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import type { WebSocket } from 'ws'
import type { LogReader } from './log-reader.ts'

/** Beyond this a client is slow: frames are skipped. Beyond the second it is behind: it gets the rest from the log. */
const SLOW_BYTES = 256 << 10
const BEHIND_BYTES = 4 << 20

/** A message as it goes out, in the order of numbers. */
export interface Message {
  seq: number
  kind: MessageKind
  channel: number | null
  text: string
}

export interface Socket extends Pick<WebSocket, 'send' | 'close' | 'bufferedAmount' | 'readyState' | 'OPEN'> {
  on(event: 'message', listener: (data: unknown) => void): unknown
}

/** One connection to the output: first what the log holds from its `since` on, then everything as it happens. */
export interface Follower {
  /** Whether messages of this kind and channel are asked for. */
  wants(message: Pick<Message, 'kind' | 'channel'>): boolean
  /** Takes a message that has just been committed; `bytes` gives its text, which all followers share. */
  offer(message: Message, bytes: () => Buffer): void
  /** Sends hello and what the log holds; then live messages. */
  start(): void
}

export interface FollowerDependencies {
  socket: Socket
  query: OutputQuery
  hello: Hello
  /** The last number that has been sent to those who follow. */
  newest: number
  reader(after: number): LogReader
  log: Log
}

export function createFollower({
  socket,
  query,
  hello,
  newest,
  reader,
  log,
}: FollowerDependencies): Follower {
  const { channels, kinds, since } = query
  const dropped = new Map<number | null, number>()
  let passed = since === undefined ? newest : Math.min(Math.max(0, since - 1), newest)
  let isLive = false

  const wants = ({ kind, channel }: Pick<Message, 'kind' | 'channel'>) =>
    (!kinds || kinds.includes(kind)) && (!channels || (channel !== null && channels.includes(channel)))

  const skip = ({ kind, channel }: Message) => {
    if (kind === 'frame') dropped.set(channel, (dropped.get(channel) ?? 0) + 1)
  }

  const sendLive = ({ kind, channel, text }: Message, bytes: () => Buffer) => {
    const count = kind === 'frame' && dropped.get(channel)
    if (!count) return socket.send(bytes(), { binary: false })
    dropped.delete(channel)
    socket.send(`${text.slice(0, -1)},"dropped":${count}}`)
  }

  const send = (text: string) => new Promise<void>(resolve => socket.send(text, () => resolve()))

  /** Sends from the log, as fast as the client takes it, until nothing is left; from then on messages are live. */
  const catchUp = async () => {
    const records = reader(passed)
    while (!records.isAtEnd() && socket.readyState === socket.OPEN) {
      const batch = await records.next()
      if (batch.gap) await send(JSON.stringify({ kind: 'gap', ...batch.gap } satisfies Gap))
      for (const { seq, text } of batch.records) {
        if (wants(JSON.parse(text))) await send(text)
        passed = seq
      }
    }
    isLive = true
  }

  const follow = () => {
    isLive = false
    catchUp().catch(error => {
      log.error({ err: error }, 'the output log cannot be read')
      socket.close(1011, 'the output log cannot be read')
    })
  }

  return {
    wants,
    start: () => {
      void send(JSON.stringify(hello))
      follow()
    },
    offer: (message, bytes) => {
      const isWanted = wants(message)
      const isDurable = durableKinds.has(message.kind)
      if (isWanted && !isDurable && (!isLive || socket.bufferedAmount > SLOW_BYTES)) return skip(message)
      if (!isLive || message.seq <= passed) return
      if (isWanted && socket.bufferedAmount > BEHIND_BYTES) return follow()
      if (isWanted) sendLive(message, bytes)
      passed = message.seq
    },
  }
}
