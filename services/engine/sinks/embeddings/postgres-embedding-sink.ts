import { setTimeout as sleep } from 'node:timers/promises'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import { withTimeout } from '@eyrie/kit/timeout'
import type { Sink, SinkRecord } from '../sink.ts'
import { type EmbeddingRecord, toEmbeddingRecords } from './embedding-record.ts'
import { EmbeddingTable } from './embedding-table.ts'
import type { TableAddress } from './table-address.ts'

/** Maximum total length of the vectors that wait for the database. */
const MAX_QUEUED_NUMBERS = 4 << 20
const BATCH_SIZE = 200
const RETRY_MS = 1000
const INSERT_TIMEOUT_MS = 15_000
const CLOSE_TIMEOUT_S = 5

/** Writes the vectors of objects to a Postgres table, buffering them while the database is slow or unreachable. */
export class PostgresEmbeddingSink implements Sink {
  readonly #name: string
  readonly #table: EmbeddingTable
  readonly #closing = new AbortController()
  readonly #lost = new RecentCounter()
  #queue: EmbeddingRecord[] = []
  #queuedNumbers = 0
  #error: string | undefined
  #writing: Promise<void> | undefined

  constructor(address: TableAddress) {
    this.#name = `${address.host}:${address.port}/${address.database}`
    this.#table = new EmbeddingTable(address)
  }

  get failure(): string | undefined {
    if (this.#error) return `vectors cannot be written to ${this.#name}: ${this.#error}`
    const lost = this.#lost.recent
    return lost > 0 ? `${this.#name} took ${lost} vectors too late or not at all: they are lost` : undefined
  }

  write(record: SinkRecord): void {
    for (const vector of toEmbeddingRecords(record)) {
      if (this.#queuedNumbers + vector.embedding.length > MAX_QUEUED_NUMBERS) {
        this.#lost.add()
        continue
      }
      this.#queue.push(vector)
      this.#queuedNumbers += vector.embedding.length
    }
    if (this.#queue.length > 0) this.#writing ??= this.#drain()
  }

  /** Writes queued vectors, unless the database fails. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    await this.#table.close(CLOSE_TIMEOUT_S)
  }

  async #drain(): Promise<void> {
    const { signal } = this.#closing
    // Collects the vectors of a frame, and of frames that arrive together, into one insert.
    await sleep(0)
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, BATCH_SIZE)
      try {
        const timeoutMs = signal.aborted ? CLOSE_TIMEOUT_S * 1000 : INSERT_TIMEOUT_MS
        await withTimeout(timeoutMs, this.#table.insert(batch))
        this.#error = undefined
      } catch (error) {
        if (!isInvalidData(error)) {
          this.#error = describeError(error as Error)
          if (signal.aborted) break
          await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
          continue
        }
        for (const _ of batch) this.#lost.add()
      }
      for (const { embedding } of this.#queue.splice(0, batch.length)) this.#queuedNumbers -= embedding.length
    }
    this.#writing = undefined
  }
}

/** Whether the database rejects this data permanently (SQLSTATE classes 22 and 23). */
const isInvalidData = (error: unknown) => /^2[23]/.test(String((error as { code?: unknown }).code))

/** Some network errors have a code but no message. */
const describeError = (error: Error & { code?: string }) =>
  error.message || error.code || 'it does not answer'
