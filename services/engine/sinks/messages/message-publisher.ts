import { rmSync, statSync } from 'node:fs'
import { type Egress, pinEndpoint, sleep } from '@eyrie/kit'
import { Mutex } from 'async-mutex'
import { Publisher } from 'zeromq'

/**
 * Maximum number of messages queued for one subscriber. A slow subscriber misses messages, and can
 * detect that by the sequence number `seq` in their headers.
 */
const MAX_QUEUED = 32
const RETRY_MS = 500

/**
 * The endpoints that this process has bound. ZeroMQ would silently replace the file of an `ipc:`
 * socket that is in use.
 */
const boundEndpoints = new Set<string>()

/** A ZeroMQ PUB socket that binds or connects to an endpoint, and retries until that succeeds. */
export class MessagePublisher {
  readonly #endpoint: string
  readonly #bind: boolean
  readonly #egress: Egress
  readonly #socket = new Publisher({ sendHighWaterMark: MAX_QUEUED, sendTimeout: 0, linger: 0 })
  readonly #closing = new AbortController()
  readonly #opening: Promise<void>
  /** ZeroMQ allows one `send` at a time. */
  readonly #sending = new Mutex()
  #queued = 0
  #isOpen = false
  #failure: string | undefined
  /** The file of a bound `ipc:` socket. */
  #socketFile: { path: string; inode: number | undefined } | undefined

  constructor({ endpoint, bind }: { endpoint: string; bind: boolean }, egress: Egress) {
    this.#egress = egress
    this.#endpoint = endpoint
    this.#bind = bind
    this.#opening = this.#openSocket()
  }

  /** Why messages cannot be sent; undefined if there is no problem. */
  get failure(): string | undefined {
    return this.#failure
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Queues a message without blocking. Returns false if the socket is not open or too many
   * messages are queued.
   */
  send(parts: (string | Uint8Array)[]): boolean {
    if (!this.#isOpen || this.#queued >= MAX_QUEUED) return false
    this.#queued++
    void this.#sending.runExclusive(() => this.#sendNow(parts))
    return true
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#opening
    await this.#sending.waitForUnlock()
    try {
      if (this.#isOpen && this.#bind) await this.#unbindSocket()
    } finally {
      this.#isOpen = false
      this.#socket.close()
    }
  }

  async #sendNow(parts: (string | Uint8Array)[]): Promise<void> {
    try {
      await this.#socket.send(parts)
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#failure = `${this.#endpoint}: ${(error as Error).message}`
      }
    } finally {
      this.#queued--
    }
  }

  async #openSocket(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted && !this.#isOpen) {
      try {
        if (this.#bind) await this.#bindSocket()
        else this.#socket.connect(await pinEndpoint(this.#egress, this.#endpoint, signal))
        this.#isOpen = true
        this.#failure = undefined
      } catch (error) {
        const action = this.#bind ? 'bound' : 'reached'
        this.#failure = `${this.#endpoint} cannot be ${action}: ${describeError(error as Error)}`
        await sleep(RETRY_MS, signal)
      }
    }
  }

  async #bindSocket(): Promise<void> {
    if (boundEndpoints.has(this.#endpoint)) {
      throw new Error('another sink uses this endpoint: change the address of one of the sinks')
    }
    boundEndpoints.add(this.#endpoint)
    await this.#socket.bind(this.#endpoint).catch(error => {
      boundEndpoints.delete(this.#endpoint)
      throw error
    })
    const path = /^ipc:\/\/(.*)/.exec(this.#endpoint)?.[1]
    if (path) this.#socketFile = { path, inode: readInode(path) }
  }

  async #unbindSocket(): Promise<void> {
    // ZeroMQ resolves tcp://*:5555 to tcp://0.0.0.0:5555 and accepts only the
    // resolved endpoint here.
    const endpoint = this.#socket.lastEndpoint ?? this.#endpoint
    await this.#socket.unbind(endpoint).finally(() => boundEndpoints.delete(this.#endpoint))
    // ZeroMQ does not delete the socket file. The inode differs if another process
    // has replaced the file.
    const file = this.#socketFile
    if (file && readInode(file.path) === file.inode) rmSync(file.path, { force: true })
  }
}

const readInode = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino

function describeError(error: Error & { code?: string }): string {
  if (error.code === 'EADDRINUSE') {
    return 'the address is in use: use another port, or stop the process that uses it'
  }
  if (error.code === 'ENOENT') return 'the folder of the socket does not exist: create it'
  if (error.code === 'ENAMETOOLONG') return 'the path of a socket must not exceed 107 characters'
  return error.message
}
