import { fileURLToPath } from 'node:url'
import { sleep } from '@eyrie/kit'
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts'
import type { Sink, SinkRecord } from './sink.ts'

/** Maximum size of all lines that wait for the disk. Beyond it, lines are lost. */
const MAX_QUEUED_BYTES = 8 << 20
/** Maximum number of bytes in one write. */
const MAX_CHUNK_BYTES = 1 << 20
const RETRY_MS = 1000
const DEFAULT_MAX_BYTES = 64 << 20
const DEFAULT_KEEP = 5

/** Returns the values that are written for the results of a frame, each as a line of JSON. */
type ToLines = (record: SinkRecord) => readonly object[]

/**
 * Writes the results of frames to a file as lines of JSON, by default one line for each frame. The
 * file is rotated when it is full.
 */
export class FileSink implements Sink {
  readonly #path: string
  readonly #file: RotatingFile
  readonly #maxChunkBytes: number
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
    this.#maxChunkBytes = Math.min(MAX_CHUNK_BYTES, options.maxBytes)
  }

  get failure(): string | undefined {
    if (this.#error) return `${this.#path} cannot be written: ${this.#error}`
    return this.#hasLostLines ? `${this.#path}: the disk is too slow, records are lost` : undefined
  }

  write(record: SinkRecord): void {
    for (const line of this.#toLines(record)) {
      this.#enqueue(Buffer.from(`${JSON.stringify(line)}\n`))
    }
  }

  /** Resolves when all queued lines have been written or the disk has failed. */
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
        await sleep(RETRY_MS, this.#closing.signal)
        continue
      }

      this.#error = undefined
      const written = this.#queue.splice(0, lines.length)
      for (const line of written) this.#queuedBytes -= line.length
    }
    this.#hasLostLines = false
    this.#writing = undefined
  }

  /** Returns as many lines as fit into one write, but at least one. */
  #nextChunk(): Buffer[] {
    let chunkBytes = 0
    let lineCount = 0
    for (const line of this.#queue) {
      chunkBytes += line.length
      if (lineCount > 0 && chunkBytes > this.#maxChunkBytes) break
      lineCount++
    }
    return this.#queue.slice(0, lineCount)
  }
}

/**
 * Parses `file:///folder/name.jsonl?max_bytes=67108864&keep=5` or a bare path. Invalid
 * parameters are ignored.
 */
export function parseFileAddress(address: string): RotatingFileOptions {
  const url = new URL(address, 'file://')
  const { searchParams } = url
  const maxBytes = parseWholeNumber(searchParams.get('max_bytes')) ?? DEFAULT_MAX_BYTES
  const keep = parseWholeNumber(searchParams.get('keep')) ?? DEFAULT_KEEP
  url.search = ''
  return { path: fileURLToPath(url), maxBytes, keep }
}

/** At most 15 digits, so that every number is exact. */
function parseWholeNumber(text: string | null): number | undefined {
  if (!text || !/^\d{1,15}$/.test(text)) return undefined
  return Number(text)
}
