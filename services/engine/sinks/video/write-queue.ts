import { setTimeout as sleep } from 'node:timers/promises'

/** Bytes that may wait for the disk. */
const QUEUE_BYTES = 32 << 20
const RETRY_MS = 1000

/** What is to be done with a file, and how much memory waits for it. */
export interface Write {
  bytes: number
  /** Done wholly or, where it throws, not at all. */
  run(): Promise<void>
}

/** Writes one after the other without anybody's waiting. What the disk refuses is tried again. */
export class WriteQueue {
  readonly #closing = new AbortController()
  #waiting: Write[] = []
  #bytes = 0
  #error: string | undefined
  #writing: Promise<void> | undefined

  /** Why the disk takes nothing; undefined while it does. */
  get error(): string | undefined {
    return this.#error
  }

  /** Whether there is room for so many bytes more. */
  takes(bytes: number): boolean {
    return this.#bytes + bytes <= QUEUE_BYTES
  }

  add(write: Write): void {
    this.#waiting.push(write)
    this.#bytes += write.bytes
    this.#writing ??= this.#drain()
  }

  /** Resolves when what waits is written, or the disk has refused it. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
  }

  async #drain(): Promise<void> {
    const { signal } = this.#closing
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      try {
        await next.run()
        this.#error = undefined
      } catch (error) {
        this.#error = (error as Error).message
        if (signal.aborted) break
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
        continue
      }
      this.#waiting.shift()
      this.#bytes -= next.bytes
    }
    this.#writing = undefined
  }
}
