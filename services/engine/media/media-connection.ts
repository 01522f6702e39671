import {
  controlPath,
  type MessageFromMedia,
  type MessageToMedia,
  messageFromMedia,
} from '@eyrie/contract/media'
import { tryParseJson } from '@eyrie/contract/parse'
import { type Backoff, backoffDelayMs, type Log } from '@eyrie/kit'
import { WebSocket } from 'ws'

export interface MediaConnectionOptions {
  /** Base URL of media, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
  log: Log
  backoff?: Backoff
  random?: () => number
  /** The connection counts as lost if a ping is not answered within this time. */
  pongTimeoutMs?: number
}

export interface MediaConnectionListener {
  /** The desired state must be sent again after every connect. */
  onConnect(): void
  onMessage(message: MessageFromMedia): void
  /** Called after every loss and every failed attempt. `reason` is a clause for the user. */
  onDisconnect(reason: string): void
}

/** A control connection to media that reconnects until it is stopped. Messages sent while it is down are dropped. */
export class MediaConnection {
  readonly #options: Required<MediaConnectionOptions>
  readonly #listener: MediaConnectionListener
  #socket: WebSocket | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #attempt = 0
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

  /** Throws if `message` cannot be serialised as JSON. */
  send(message: MessageToMedia): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#retry)
    this.#socket?.terminate()
  }

  #connect(): void {
    const { url, token, pongTimeoutMs } = this.#options
    const socket = new WebSocket(new URL(controlPath, url.replace(/^http/, 'ws')), {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      handshakeTimeout: pongTimeoutMs,
      perMessageDeflate: false,
    })
    this.#socket = socket
    let reason = `media at ${url} has closed the connection`
    socket.on('open', () => {
      this.#attempt = 0
      this.#startHeartbeat(socket)
      this.#listener.onConnect()
    })
    socket.on('message', data => this.#receive(String(data)))
    socket.on('error', error => {
      reason = `media at ${url} is not reachable: ${error.message || (error as NodeJS.ErrnoException).code}`
    })
    socket.on('close', () => {
      clearInterval(this.#heartbeat)
      if (!this.#isStopped) this.#reconnect(reason)
    })
  }

  #reconnect(reason: string): void {
    this.#listener.onDisconnect(reason)
    const { backoff, random } = this.#options
    this.#retry = setTimeout(() => this.#connect(), backoffDelayMs(this.#attempt++, backoff, random))
  }

  /** A suspended media process keeps its sockets open: only a pong proves that it is alive. */
  #startHeartbeat(socket: WebSocket): void {
    let isAlive = true
    socket.on('pong', () => {
      isAlive = true
    })
    this.#heartbeat = setInterval(() => {
      if (isAlive) socket.ping()
      else socket.terminate()
      isAlive = false
    }, this.#options.pongTimeoutMs)
  }

  #receive(text: string): void {
    const parsed = messageFromMedia.safeParse(tryParseJson(text))
    if (parsed.success) this.#listener.onMessage(parsed.data)
    else this.#options.log.warn({ text: text.slice(0, 200) }, 'ignoring unknown message from media')
  }
}
