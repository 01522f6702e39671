import {
  CONTROL_PATH,
  type MessageFromMedia,
  type MessageToMedia,
  messageFromMedia,
} from '@eyrie/contract/media'
import { tryParseJson } from '@eyrie/contract/parse'
import { type Backoff, backoffDelayMs, type Log, openWebSocket, serviceEgress } from '@eyrie/kit'
import { WebSocket } from 'ws'

const MAX_LOGGED_CHARACTERS = 200

/** Where the media service is, and how the connection to it is maintained. */
export interface MediaConnectionOptions {
  /** Base URL of the media service, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
  log: Log
  backoff?: Backoff
  random?: () => number
  /** If the media service does not answer a ping within this time, the connection is closed. */
  pongTimeoutMs?: number
}

export interface MediaConnectionListener {
  /** Called after every connect. The listener must then send the complete desired state. */
  onConnect(): void
  onMessage(message: MessageFromMedia): void
  /**
   * Called when the connection is lost and after every failed attempt. `reason` is shown to the
   * user.
   */
  onDisconnect(reason: string): void
}

/**
 * The control connection of the engine to the media service, a WebSocket. It reconnects until it is
 * stopped. Messages that are sent while it is disconnected are dropped.
 */
export class MediaConnection {
  readonly #options: Required<MediaConnectionOptions>
  readonly #listener: MediaConnectionListener
  #socket: WebSocket | undefined
  #heartbeatTimer: NodeJS.Timeout | undefined
  #reconnectTimer: NodeJS.Timeout | undefined
  #failedAttempts = 0
  #isStopped = false

  constructor(options: MediaConnectionOptions, listener: MediaConnectionListener) {
    this.#options = {
      backoff: { initialMs: 200, maxMs: 5000 },
      random: Math.random,
      pongTimeoutMs: 5000,
      ...options,
    }
    this.#listener = listener
    this.#connect()
  }

  /** Throws if `message` cannot be serialized as JSON. */
  send(message: MessageToMedia): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#reconnectTimer)
    this.#socket?.terminate()
  }

  #connect(): void {
    const { url, token, pongTimeoutMs } = this.#options
    const socket = openWebSocket(serviceEgress, new URL(CONTROL_PATH, url.replace(/^http/, 'ws')), {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      handshakeTimeout: pongTimeoutMs,
      perMessageDeflate: false,
    })
    this.#socket = socket

    let reason = `media at ${url} has closed the connection`
    socket.on('open', () => {
      this.#failedAttempts = 0
      this.#startHeartbeat(socket)
      this.#listener.onConnect()
    })
    socket.on('message', data => this.#receive(String(data)))
    socket.on('error', error => {
      // Some network errors have a code but no message.
      const problem = error.message || (error as NodeJS.ErrnoException).code
      reason = `media at ${url} is not reachable: ${problem}`
    })
    socket.on('close', () => {
      clearInterval(this.#heartbeatTimer)
      if (!this.#isStopped) this.#reconnect(reason)
    })
  }

  #reconnect(reason: string): void {
    this.#listener.onDisconnect(reason)
    const { backoff, random } = this.#options
    const delayMs = backoffDelayMs(this.#failedAttempts, backoff, random)
    this.#failedAttempts++
    this.#reconnectTimer = setTimeout(() => this.#connect(), delayMs)
  }

  /**
   * Pings the media service regularly. A suspended process does not close its sockets, so only a
   * pong proves that it runs.
   */
  #startHeartbeat(socket: WebSocket): void {
    let hasAnswered = true
    socket.on('pong', () => {
      hasAnswered = true
    })
    this.#heartbeatTimer = setInterval(() => {
      if (hasAnswered) socket.ping()
      else socket.terminate()
      hasAnswered = false
    }, this.#options.pongTimeoutMs)
  }

  #receive(text: string): void {
    const parsed = messageFromMedia.safeParse(tryParseJson(text))
    if (parsed.success) {
      this.#listener.onMessage(parsed.data)
    } else {
      this.#options.log.warn(
        { text: text.slice(0, MAX_LOGGED_CHARACTERS) },
        'ignoring unknown message from media',
      )
    }
  }
}
