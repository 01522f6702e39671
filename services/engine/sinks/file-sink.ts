import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts'
import type { Sink, SinkRecord } from './sink.ts'

/** Maximum number of bytes that wait for the disk. */
const MAX_QUEUED_BYTES = 8 << 20
const CHUNK_BYTES = 1 << 20
const RETRY_MS = 1000

type ToLines = (record: SinkRecord) => readonly object[]

/** Writes JSON lines, by default one per record. Lines that the disk does not accept in time are lost and reported. */
export class FileSink implements Sink {
  readonly #path: string
  readonly #file: RotatingFile
  readonly #chunkBytes: number
  readonly #toLines: ToLines
  readonly #closing = new AbortController()
  #queue: Buffer[] = []
  #queuedBytes = 0
  #hasLostLines = false
  #error: string | undefined
  #writing: Promise<void> | undefined

  constructor(options: RotatingFileOptions, toLines: ToLines = record => [record]) {
    this.#path = options.path
    this.#toLines = toLines
    this.#file = new RotatingFile(options)
    this.#chunkBytes = Math.min(CHUNK_BYTES, options.maxBytes)
  }

  get failure(): string | undefined {
    if (this.#error) return `${this.#path} cannot be written: ${this.#error}`
    return this.#hasLostLines ? `${this.#path}: the disk is too slow, records are lost` : undefined
  }

  write(record: SinkRecord): void {
    for (const line of this.#toLines(record)) this.#enqueue(Buffer.from(`${JSON.stringify(line)}\n`))
  }

  /** Writes queued lines, unless the disk fails. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    await this.#file.close()
  }

  #enqueue(line: Buffer): void {
    if (this.#queuedBytes + line.length > MAX_QUEUED_BYTES) {
      this.#hasLostLines = true
      return
    }
    this.#queue.push(line)
    this.#queuedBytes += line.length
    this.#writing ??= this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const lines = this.#nextChunk()
      try {
        await this.#file.append(Buffer.concat(lines))
      } catch (error) {
        this.#error = (error as Error).message
        if (this.#closing.signal.aborted) break
        await sleep(RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
        continue
      }
      this.#error = undefined
      for (const { length } of this.#queue.splice(0, lines.length)) this.#queuedBytes -= length
    }
    this.#hasLostLines = false
    this.#writing = undefined
  }

  /** The first lines that fit into a chunk, at least one. */
  #nextChunk(): Buffer[] {
    let bytes = 0
    const end = this.#queue.findIndex(({ length }) => {
      bytes += length
      return bytes > this.#chunkBytes
    })
    return this.#queue.slice(0, end === -1 ? undefined : Math.max(1, end))
  }
}

/** Parses `file:///folder/name.jsonl?max_bytes=67108864&keep=5` or a bare path. Invalid parameters get their default. */
export function parseFileAddress(address: string): RotatingFileOptions {
  const url = new URL(address, 'file://')
  const { searchParams } = url
  const maxBytes = parseWholeNumber(searchParams.get('max_bytes')) ?? 64 << 20
  const keep = parseWholeNumber(searchParams.get('keep')) ?? 5
  url.search = ''
  return { path: fileURLToPath(url), maxBytes, keep }
}

const parseWholeNumber = (text: string | null) => (text && /^\d{1,15}$/.test(text) ? Number(text) : undefined)
