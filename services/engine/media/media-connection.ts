import {
  controlPath,
  type MessageFromMedia,
  type MessageToMedia,
  messageFromMedia,
} from '@eyrie/contract/media'
import { tryParseJson } from '@eyrie/contract/parse'
import { type Backoff, backoffDelayMs, type Log } from '@eyrie/kit'
import { WebSocket } from 'ws'

export interface ConnectionOptions {
  /** Where media listens, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
  log: Log
  backoff?: Backoff
  random?: () => number
  /** Media is taken to be gone when it answers no ping for this long. */
  silenceMs?: number
}

export interface ConnectionListener {
  /** The state that media is to hold has to be sent anew. */
  connected(): void
  received(message: MessageFromMedia): void
  /** Called once for every loss, also where there never was a connection. `reason` is a plain sentence. */
  lost(reason: string): void
}

/** The control connection to media, kept up for ever. What is sent while it is away is dropped. */
export class MediaConnection {
  readonly #options: Required<ConnectionOptions>
  readonly #listener: ConnectionListener
  #socket: WebSocket | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #attempt = 0
  #stopped = false

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = {
      backoff: { initialMs: 200, maxMs: 5000 },
      random: Math.random,
      silenceMs: 5000,
      ...options,
    }
    this.#listener = listener
    this.#connect()
  }

  send(message: MessageToMedia): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#retry)
    this.#socket?.terminate()
  }

  #connect(): void {
    const { url, token, silenceMs } = this.#options
    const socket = new WebSocket(new URL(controlPath, url.replace(/^http/, 'ws')), {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      handshakeTimeout: silenceMs,
      perMessageDeflate: false,
    })
    this.#socket = socket
    let failure = `media at ${url} has closed the connection`
    socket.on('open', () => {
      this.#attempt = 0
      this.#watch(socket)
      this.#listener.connected()
    })
    socket.on('message', data => this.#receive(String(data)))
    socket.on('error', error => {
      failure = `media at ${url} is not reachable: ${error.message || (error as NodeJS.ErrnoException).code}`
    })
    socket.on('close', () => {
      clearInterval(this.#heartbeat)
      if (!this.#stopped) this.#reconnect(failure)
    })
  }

  #reconnect(reason: string): void {
    this.#listener.lost(reason)
    const { backoff, random } = this.#options
    this.#retry = setTimeout(() => this.#connect(), backoffDelayMs(this.#attempt++, backoff, random))
  }

  /** A stopped media process keeps its sockets open: only an answer shows that it is alive. */
  #watch(socket: WebSocket): void {
    let answered = true
    socket.on('pong', () => {
      answered = true
    })
    this.#heartbeat = setInterval(() => {
      if (answered) socket.ping()
      else socket.terminate()
      answered = false
    }, this.#options.silenceMs)
  }

  #receive(text: string): void {
    const parsed = messageFromMedia.safeParse(tryParseJson(text))
    if (parsed.success) this.#listener.received(parsed.data)
    else
      this.#options.log.warn({ text: text.slice(0, 200) }, 'media has sent what the contract does not know')
  }
}
