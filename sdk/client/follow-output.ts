import { on, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import type { Acknowledgement, Gap, Hello, OutputMessage, OutputQuery } from '@eyrie/contract/output'
import { WebSocket } from 'ws'
import { toConnectionError, toResponseError } from './client-errors.ts'
import { toQueryString } from './route-calls.ts'

/** Minimum delay between attempts to connect. A random delay of up to the same length spreads out clients. */
const RETRY_MS = 500
const HANDSHAKE_MS = 10_000
/** Interval of TCP keep-alive probes, which detect a lost peer after about twice this time. */
const KEEP_ALIVE_MS = 15_000
/** Beyond this number of buffered messages, nothing is read from the network until the caller catches up. */
const MAX_BUFFERED_MESSAGES = 1000

/** For a `consumer`, a message is acknowledged when the caller requests the next one, unless `onAcknowledgeReady` is set. */
export interface OutputOptions extends OutputQuery {
  /**
   * Receives a function for each connection that acknowledges all messages up to a sequence number. If set, messages are
   * only acknowledged by this function.
   */
  onAcknowledgeReady?(acknowledge: (seq: number) => void): void
  /** Called when a connection is lost or cannot be established. The client reconnects. */
  onDisconnect?(error: EyrieError): void
}

export type ReceivedMessage = Hello | Gap | OutputMessage

/** Follows the output at a ws:// URL. Throws `EyrieError` if the engine rejects the query or the token. */
export async function* followOutput(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
  { since, onDisconnect, onAcknowledgeReady, ...query }: OutputOptions = {},
): AsyncGenerator<ReceivedMessage, void, undefined> {
  let next = since
  let logId: string | undefined

  while (!signal?.aborted) {
    const socket = new WebSocket(url + toQueryString({ ...query, since: next }), {
      headers,
      handshakeTimeout: HANDSHAKE_MS,
      perMessageDeflate: false,
    })
    try {
      await waitUntilOpen(socket, url, signal)
      const acknowledge = (ack: number) => socket.send(JSON.stringify({ ack } satisfies Acknowledgement))
      onAcknowledgeReady?.(acknowledge)
      for await (const message of readMessages(socket, url, signal)) {
        if (message.kind === 'hello') {
          const isNewLog = logId !== undefined && logId !== message.log_id
          logId = message.log_id
          if (isNewLog) {
            next = 1
            break
          }
          // The engine knows where a consumer continues.
          if (!query.consumer) next ??= message.newest + 1
          yield message
        } else {
          const seq = message.kind === 'gap' ? message.to : message.seq
          next = seq + 1
          yield message
          if (query.consumer && !onAcknowledgeReady) acknowledge(seq)
        }
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof EyrieError) || !isTemporary(error)) throw error
      onDisconnect?.(error)
      await delay(RETRY_MS * (1 + Math.random()), undefined, { signal }).catch(() => {})
    } finally {
      socket.terminate()
    }
  }
}

const isTemporary = ({ status }: EyrieError) => status >= 500

/** Rejects with `EyrieError`. The open socket is paused, so that no message is lost before the caller listens. */
async function waitUntilOpen(socket: WebSocket, url: string, signal: AbortSignal | undefined): Promise<void> {
  const rejected = Promise.withResolvers<never>()
  // Every error of a WebSocket is followed by 'close'.
  socket.on('error', () => {})
  socket.once('unexpected-response', async (_, response) => {
    const body = await response.toArray().catch(() => [])
    rejected.reject(toResponseError(url, response.statusCode ?? 0, Buffer.concat(body).toString()))
  })
  socket.once('upgrade', response => response.socket.setKeepAlive(true, KEEP_ALIVE_MS))
  socket.once('open', () => socket.pause())
  const open = once(socket, 'open', { signal }).catch(cause => {
    throw toConnectionError(url, cause)
  })
  await Promise.race([open, rejected.promise])
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
  for await (const [text] of events) yield JSON.parse(String(text)) as ReceivedMessage
  throw toConnectionError(url, new Error('the connection was closed'))
}
