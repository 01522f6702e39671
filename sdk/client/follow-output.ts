import { on, once } from 'node:events'
import type { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import type { OutputMessage } from '@eyrie/contract/output'
import type { Acknowledgement, Gap, Hello, OutputQuery } from '@eyrie/contract/output-connection'
import { WebSocket } from 'ws'
import { toConnectionError, toResponseError } from './client-errors.ts'
import { toQueryString } from './route-calls.ts'

/**
 * Follows the output of the engine over a WebSocket and reconnects when the connection is lost.
 * Every message has a sequence number. The engine stores durable messages, such as events, in its
 * output log, so that a new connection continues after the last message that was received.
 *
 * Two messages are about the connection itself: `hello` starts each connection, and `gap` reports
 * messages that are no longer in the log.
 */

/**
 * Minimum delay before a reconnect. A random delay of up to the same length is added,
 * to spread out clients.
 */
const RETRY_DELAY_MS = 500
const HANDSHAKE_TIMEOUT_MS = 10_000
/** Interval of TCP keep-alive probes, which detect a lost peer after about twice this time. */
const KEEP_ALIVE_MS = 15_000
const PING_INTERVAL_MS = 1000
/** The lowest HTTP status of errors that may disappear when the request is repeated. */
const SERVER_ERROR = 500
/**
 * Beyond this number of buffered messages, nothing is read from the network until
 * the caller catches up.
 */
const MAX_BUFFERED_MESSAGES = 1000

/**
 * Options of `Client.output`. With the name of a `consumer`, the engine stores messages until they
 * are acknowledged. A message is acknowledged when the caller requests the next one, unless
 * `onAcknowledgeReady` is set.
 */
export interface OutputOptions extends OutputQuery {
  /**
   * Called for each connection with a function that acknowledges all messages up to a sequence
   * number. If set, only that function acknowledges messages.
   */
  onAcknowledgeReady?(acknowledge: (seq: number) => void): void
  /** Called when a connection is lost or cannot be established. The client reconnects. */
  onDisconnect?(error: EyrieError): void
  /**
   * Called when the engine answers a ping. If set, a ping is sent every second, which shows sooner
   * than `onDisconnect` that a connection is lost.
   */
  onPong?(): void
}

export type ReceivedMessage = Hello | Gap | OutputMessage

/** The position in the output log at which the next connection continues. */
interface LogPosition {
  /** The log to which `next` refers; undefined before the first connection. */
  logId: string | undefined
  /** Sequence number of the next message; undefined if the engine chooses it. */
  next: number | undefined
}

/** Where the output is, and how to connect to it. */
export interface OutputAccess {
  /** A ws:// or wss:// URL. */
  url: string
  headers: Record<string, string>
  /** Opens the connections; by default, Node.js does. */
  agent: Agent | undefined
  signal: AbortSignal | undefined
}

/**
 * Follows the output of an engine. Throws `EyrieError` if the engine rejects the query or the
 * token.
 */
export async function* followOutput(
  { url, headers, agent, signal }: OutputAccess,
  options: OutputOptions = {},
): AsyncGenerator<ReceivedMessage, void, undefined> {
  // All other options are parameters of the query.
  const { since, onDisconnect, onAcknowledgeReady, onPong, ...query } = options
  const position: LogPosition = { logId: undefined, next: since }

  while (!signal?.aborted) {
    const queryString = toQueryString({ ...query, since: position.next })
    const socket = new WebSocket(url + queryString, {
      headers,
      ...(agent && { agent }),
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      perMessageDeflate: false,
    })
    try {
      await waitUntilOpen(socket, url, signal)
      if (onPong) sendPings(socket, onPong)
      yield* readOutput(socket, readMessages(socket, url, signal), position, options)
    } catch (error) {
      if (signal?.aborted) return
      const isTemporary = error instanceof EyrieError && error.status >= SERVER_ERROR
      if (!isTemporary) throw error
      onDisconnect?.(error)
      const delayMs = RETRY_DELAY_MS * (1 + Math.random())
      await delay(delayMs, undefined, { signal }).catch(() => {})
    } finally {
      socket.terminate()
    }
  }
}

/**
 * Yields the messages of one connection and advances the position. Returns early if the engine has
 * a new log, with the position at its start.
 */
async function* readOutput(
  socket: WebSocket,
  messages: AsyncIterable<ReceivedMessage>,
  position: LogPosition,
  { consumer, onAcknowledgeReady }: OutputOptions,
): AsyncGenerator<ReceivedMessage, void, undefined> {
  const acknowledge = (seq: number) => {
    const acknowledgement: Acknowledgement = { ack: seq }
    socket.send(JSON.stringify(acknowledgement))
  }
  onAcknowledgeReady?.(acknowledge)

  for await (const message of messages) {
    if (message.kind === 'hello') {
      const isNewLog = position.logId !== undefined && position.logId !== message.log_id
      position.logId = message.log_id
      if (isNewLog) {
        position.next = 1
        return
      }
      // A consumer needs no position here, because the engine stores it.
      if (!consumer) position.next ??= message.newest + 1
      yield message
      continue
    }

    const seq = message.kind === 'gap' ? message.to : message.seq
    position.next = seq + 1
    yield message
    // The caller has processed the message when it requests the next one.
    if (consumer && !onAcknowledgeReady) acknowledge(seq)
  }
}

/**
 * Waits for the connection. Rejects with `EyrieError`. The open socket is paused, so that no
 * message is lost before `readMessages` listens.
 */
async function waitUntilOpen(
  socket: WebSocket,
  url: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Every error of a WebSocket is followed by 'close'. Without this listener, an error
  // would end the process.
  socket.on('error', () => {})
  socket.once('upgrade', response => response.socket.setKeepAlive(true, KEEP_ALIVE_MS))
  socket.once('open', () => socket.pause())

  const rejection = Promise.withResolvers<never>()
  socket.once('unexpected-response', async (_, response) => {
    const chunks = await response.toArray().catch(() => [])
    const body = Buffer.concat(chunks).toString()
    rejection.reject(toResponseError(url, response.statusCode ?? 0, body))
  })
  const open = once(socket, 'open', { signal }).catch(cause => {
    throw toConnectionError(url, cause)
  })
  await Promise.race([open, rejection.promise])
}

/** Sends pings until the connection is closed. */
function sendPings(socket: WebSocket, onPong: () => void): void {
  const timer = setInterval(() => socket.ping(), PING_INTERVAL_MS)
  socket.ping()
  socket.on('pong', onPong)
  socket.once('close', () => clearInterval(timer))
}

/** Yields messages until the connection is lost, then throws `EyrieError`. */
async function* readMessages(socket: WebSocket, url: string, signal: AbortSignal | undefined) {
  const events = on(socket, 'message', {
    close: ['close'],
    signal,
    highWaterMark: MAX_BUFFERED_MESSAGES,
    lowWaterMark: MAX_BUFFERED_MESSAGES / 2,
  })
  socket.resume()
  try {
    for await (const [text] of events) yield JSON.parse(String(text)) as ReceivedMessage
  } catch (cause) {
    // A frame or a message was damaged on its way.
    throw toConnectionError(url, cause as Error)
  }
  throw toConnectionError(url, new Error('the connection was closed'))
}
