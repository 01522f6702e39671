import { setTimeout as sleep } from 'node:timers/promises'

/** Maximum number of bytes that wait for the disk. */
const MAX_QUEUED_BYTES = 32 << 20
const RETRY_MS = 1000

/** A pending operation on a file and the memory that it occupies. */
export interface QueuedWrite {
  bytes: number
  /** Atomic: if it throws, it has had no effect and can be retried. */
  run(): Promise<void>
}

/** Runs writes in the background, one at a time. A failed write is retried. */
export class WriteQueue {
  readonly #closing = new AbortController()
  #queue: QueuedWrite[] = []
  #queuedBytes = 0
  #error: string | undefined
  #writing: Promise<void> | undefined

  /** Error of the last write; undefined if it succeeded. */
  get error(): string | undefined {
    return this.#error
  }

  hasRoomFor(bytes: number): boolean {
    return this.#queuedBytes + bytes <= MAX_QUEUED_BYTES
  }

  add(write: QueuedWrite): void {
    this.#queue.push(write)
    this.#queuedBytes += write.bytes
    this.#writing ??= this.#drain()
  }

  /** Resolves when the queue has been written or the disk has failed. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
  }

  async #drain(): Promise<void> {
    const { signal } = this.#closing
    while (this.#queue.length > 0) {
      const write = this.#queue[0]!
      try {
        await write.run()
        this.#error = undefined
      } catch (error) {
        this.#error = (error as Error).message
        if (signal.aborted) break
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
        continue
      }
      this.#queue.shift()
      this.#queuedBytes -= write.bytes
    }
    this.#writing = undefined
  }
}
