import { sleep } from '@eyrie/kit'

/** Maximum number of bytes that wait for the disk. Callers check it with `hasRoomFor`. */
const MAX_QUEUED_BYTES = 32 << 20
const RETRY_DELAY_MS = 1000

/** A pending operation on a file, such as appending a fragment of a recording. */
export interface QueuedWrite {
  /** The memory that the operation occupies. */
  bytes: number
  /** Runs the operation. If it throws, it has had no effect, so it can be retried. */
  run(): Promise<void>
}

/**
 * Runs the writes of a recorder in the background, one at a time. A failed write is
 * retried until it succeeds.
 */
export class WriteQueue {
  readonly #closing = new AbortController()
  #queue: QueuedWrite[] = []
  #queuedBytes = 0
  #error: string | undefined
  #writing: Promise<void> | undefined

  /** Why the last write failed; undefined if it succeeded. */
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

  /** Resolves when all writes have been run, or at the first write that fails. */
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
        await sleep(RETRY_DELAY_MS, signal)
        continue
      }

      this.#queue.shift()
      this.#queuedBytes -= write.bytes
    }
    this.#writing = undefined
  }
}
