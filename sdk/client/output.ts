import { on, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import type { Acknowledgement, Gap, Hello, OutputMessage, OutputQuery } from '@eyrie/contract/output'
import { WebSocket } from 'ws'
import { toConnectionError, toResponseError } from './client-errors.ts'
import { toQueryString } from './route-calls.ts'

/** Between two attempts to connect: so long and up to as much again, so that many clients do not come at once. */
const RETRY_MS = 500
const HANDSHAKE_MS = 10_000
/** A peer that has vanished without a word is noticed after about twice as long. */
const KEEP_ALIVE_MS = 15_000
/** Messages that wait for the loop that takes them; beyond this nothing is read from the network. */
const MOST_WAITING = 1000

/** As a `consumer`, a message is acknowledged when the loop asks for the next one, unless `acknowledgeBy` is given. */
export interface OutputOptions extends OutputQuery {
  /** Given, for every connection, what acknowledges a message and all before it; nothing else does then. */
  acknowledgeBy?(acknowledge: (seq: number) => void): void
  /** Told why a connection was lost or could not be made; it is tried again. */
  onLost?(error: EyrieError): void
}

export type ReceivedMessage = Hello | Gap | OutputMessage

/** Follows the output at a ws:// address. Throws EyrieError where the engine refuses the query or the token. */
export async function* followOutput(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
  { since, onLost, acknowledgeBy, ...query }: OutputOptions = {},
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
      await opened(socket, url, signal)
      const acknowledge = (ack: number) => socket.send(JSON.stringify({ ack } satisfies Acknowledgement))
      acknowledgeBy?.(acknowledge)
      for await (const message of messages(socket, url, signal)) {
        if (message.kind === 'hello') {
          const isOther = logId !== undefined && logId !== message.log_id
          logId = message.log_id
          if (isOther) {
            next = 1
            break
          }
          // Where a consumer goes on, the engine knows.
          if (!query.consumer) next ??= message.newest + 1
          yield message
        } else {
          const seq = message.kind === 'gap' ? message.to : message.seq
          next = seq + 1
          yield message
          if (query.consumer && !acknowledgeBy) acknowledge(seq)
        }
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof EyrieError) || !isPassing(error)) throw error
      onLost?.(error)
      await delay(RETRY_MS * (1 + Math.random()), undefined, { signal }).catch(() => {})
    } finally {
      socket.terminate()
    }
  }
}

const isPassing = ({ status }: EyrieError) => status >= 500

/** Rejects with EyrieError. The open socket is paused, so that nothing is missed before somebody listens. */
async function opened(socket: WebSocket, url: string, signal: AbortSignal | undefined): Promise<void> {
  const refused = Promise.withResolvers<never>()
  // An error of a WebSocket is always followed by its end.
  socket.on('error', () => {})
  socket.once('unexpected-response', async (_, response) => {
    const body = await response.toArray().catch(() => [])
    refused.reject(toResponseError(url, response.statusCode ?? 0, Buffer.concat(body).toString()))
  })
  socket.once('upgrade', response => response.socket.setKeepAlive(true, KEEP_ALIVE_MS))
  socket.once('open', () => socket.pause())
  const open = once(socket, 'open', { signal }).catch(cause => {
    throw toConnectionError(url, cause)
  })
  await Promise.race([open, refused.promise])
}

/** What arrives until the connection is lost, which throws EyrieError. */
async function* messages(socket: WebSocket, url: string, signal: AbortSignal | undefined) {
  const arriving = on(socket, 'message', {
    close: ['close'],
    signal,
    highWaterMark: MOST_WAITING,
    lowWaterMark: MOST_WAITING / 2,
  })
  socket.resume()
  for await (const [text] of arriving) yield JSON.parse(String(text)) as ReceivedMessage
  throw toConnectionError(url, new Error('the connection was closed'))
}
