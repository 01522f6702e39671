import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts'
import type { Sink, SinkRecord } from './sink.ts'

/** Bytes that may wait for the disk. */
const QUEUE_BYTES = 8 << 20
const CHUNK_BYTES = 1 << 20
const RETRY_MS = 1000

/** JSON lines, one a record unless told otherwise. What the disk does not take in time is lost, and said to be. */
export class FileSink implements Sink {
  readonly #path: string
  readonly #file: RotatingFile
  readonly #chunkBytes: number
  readonly #linesOf: (record: SinkRecord) => readonly object[]
  readonly #closing = new AbortController()
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #lost = 0
  #error: string | undefined
  #writing: Promise<void> | undefined

  constructor(
    options: RotatingFileOptions,
    linesOf: (record: SinkRecord) => readonly object[] = record => [record],
  ) {
    this.#path = options.path
    this.#linesOf = linesOf
    this.#file = new RotatingFile(options)
    this.#chunkBytes = Math.min(CHUNK_BYTES, options.maxBytes)
  }

  get failure(): string | undefined {
    if (this.#error) return `${this.#path} cannot be written: ${this.#error}`
    return this.#lost > 0 ? `${this.#path}: the disk is too slow, records are lost` : undefined
  }

  write(record: SinkRecord): void {
    for (const line of this.#linesOf(record)) this.#append(Buffer.from(`${JSON.stringify(line)}\n`))
  }

  /** Writes what waits, unless the disk refuses it. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    await this.#file.close()
  }

  #append(line: Buffer): void {
    if (this.#waitingBytes + line.length > QUEUE_BYTES) {
      this.#lost++
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    this.#writing ??= this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#nextLines()
      try {
        await this.#file.append(Buffer.concat(lines))
      } catch (error) {
        this.#error = (error as Error).message
        if (this.#closing.signal.aborted) break
        await sleep(RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
        continue
      }
      this.#error = undefined
      for (const { length } of this.#waiting.splice(0, lines.length)) this.#waitingBytes -= length
    }
    this.#lost = 0
    this.#writing = undefined
  }

  /** As many of the first lines as make a chunk, and at least one. */
  #nextLines(): Buffer[] {
    let bytes = 0
    const end = this.#waiting.findIndex(({ length }) => {
      bytes += length
      return bytes > this.#chunkBytes
    })
    return this.#waiting.slice(0, end === -1 ? undefined : Math.max(1, end))
  }
}

/** Parses `file:///folder/name.jsonl?max_bytes=67108864&keep=5` or a bare path. An invalid bound is the default. */
export function parseFileAddress(address: string): RotatingFileOptions {
  const url = new URL(address, 'file://')
  const { searchParams } = url
  const maxBytes = wholeNumber(searchParams.get('max_bytes')) ?? 64 << 20
  const keep = wholeNumber(searchParams.get('keep')) ?? 5
  url.search = ''
  return { path: fileURLToPath(url), maxBytes, keep }
}

const wholeNumber = (text: string | null) => (text && /^\d{1,15}$/.test(text) ? Number(text) : undefined)
