import { rmSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Publisher } from 'zeromq'

/** Messages that wait for one subscriber. A slower one misses what is beyond, and sees that by `seq`. */
const QUEUED_MESSAGES = 32
const RETRY_MS = 500

/** Endpoints that this process has bound: ZeroMQ would take a socket in the file system away from its owner. */
const bound = new Set<string>()

/** A PUB socket, which is tried to be opened until it is. Sending never waits for anybody. */
export class MessagePublisher {
  readonly #endpoint: string
  readonly #bind: boolean
  readonly #socket = new Publisher({ sendHighWaterMark: QUEUED_MESSAGES, sendTimeout: 0, linger: 0 })
  readonly #closing = new AbortController()
  readonly #opening: Promise<void>
  #sending: Promise<void> = Promise.resolve()
  #waiting = 0
  #open = false
  #failure: string | undefined
  /** The socket, where it is one in the file system. */
  #file: { path: string; inode: number | undefined } | undefined

  constructor({ endpoint, bind }: { endpoint: string; bind: boolean }) {
    this.#endpoint = endpoint
    this.#bind = bind
    this.#opening = this.#openSocket()
  }

  /** Why nobody can be sent anything; undefined when all is well. */
  get failure(): string | undefined {
    return this.#failure
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Whether the message is on its way. */
  send(parts: (string | Uint8Array)[]): boolean {
    if (!this.#open || this.#waiting >= QUEUED_MESSAGES) return false
    this.#waiting++
    this.#sending = this.#sending
      .then(() => this.#socket.send(parts))
      .catch(error => {
        if (!this.#closing.signal.aborted) this.#failure = `${this.#endpoint}: ${error.message}`
      })
      .finally(() => this.#waiting--)
    return true
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#opening
    await this.#sending
    try {
      if (this.#open && this.#bind) await this.#unbindSocket()
    } finally {
      this.#open = false
      this.#socket.close()
    }
  }

  async #openSocket(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted && !this.#open) {
      try {
        if (this.#bind) await this.#bindSocket()
        else this.#socket.connect(this.#endpoint)
        this.#open = true
        this.#failure = undefined
      } catch (error) {
        this.#failure = `${this.#endpoint} cannot be ${this.#bind ? 'bound' : 'reached'}: ${explain(error as Error)}`
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #bindSocket(): Promise<void> {
    if (bound.has(this.#endpoint))
      throw new Error('another sink has bound it: give one of them another address')
    bound.add(this.#endpoint)
    await this.#socket.bind(this.#endpoint).catch(error => {
      bound.delete(this.#endpoint)
      throw error
    })
    const path = /^ipc:\/\/(.*)/.exec(this.#endpoint)?.[1]
    if (path) this.#file = { path, inode: inodeAt(path) }
  }

  async #unbindSocket(): Promise<void> {
    // By the name that ZeroMQ has given it: tcp://*:5555 has become tcp://0.0.0.0:5555, and it knows no other.
    const name = this.#socket.lastEndpoint ?? this.#endpoint
    await this.#socket.unbind(name).finally(() => bound.delete(this.#endpoint))
    // ZeroMQ leaves it behind; somebody else's may have taken its place.
    if (this.#file && inodeAt(this.#file.path) === this.#file.inode) rmSync(this.#file.path, { force: true })
  }
}

const inodeAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino

function explain(error: Error & { code?: string }): string {
  if (error.code === 'EADDRINUSE') return 'the address is in use: take another port, or end who has it'
  if (error.code === 'ENOENT') return 'its folder does not exist: make it'
  if (error.code === 'ENAMETOOLONG') return 'the path of a socket has 107 characters at most'
  return error.message
}
