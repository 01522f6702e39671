import { setTimeout as wait } from 'node:timers/promises'
import { type Egress, sleep } from '@eyrie/kit'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import { withTimeout } from '@eyrie/kit/timeout'
import type { Sink, SinkRecord } from '../sink.ts'
import { type EmbeddingRecord, toEmbeddingRecords } from './embedding-record.ts'
import { EmbeddingTable } from './embedding-table.ts'
import type { TableAddress } from './table-address.ts'

/**
 * Maximum total length of the queued vectors. Beyond it, embeddings are lost, and the loss is
 * reported.
 */
const MAX_QUEUED_NUMBERS = 4 << 20
/** Maximum number of embeddings in one insert. */
const BATCH_SIZE = 200
const RETRY_MS = 1000
const INSERT_TIMEOUT_MS = 15_000
const CLOSE_TIMEOUT_S = 5

/**
 * Writes the embeddings of detected objects, which are vectors that describe their appearance, to a
 * Postgres table. Embeddings are queued while the database is slow or unreachable.
 */
export class PostgresEmbeddingSink implements Sink {
  /** Names the database in messages. */
  readonly #name: string
  readonly #table: EmbeddingTable
  readonly #closing = new AbortController()
  readonly #lost = new RecentCounter()
  #queue: EmbeddingRecord[] = []
  #queuedNumbers = 0
  #error: string | undefined
  #writing: Promise<void> | undefined

  constructor(address: TableAddress, egress: Egress) {
    this.#name = `${address.host}:${address.port}/${address.database}`
    this.#table = new EmbeddingTable(address, egress)
  }

  get failure(): string | undefined {
    if (this.#error) return `failed to write embeddings to ${this.#name}: ${this.#error}`
    const lost = this.#lost.recent
    return lost > 0
      ? `${lost} embeddings were lost: ${this.#name} is too slow or rejected them`
      : undefined
  }

  write(record: SinkRecord): void {
    for (const embeddingRecord of toEmbeddingRecords(record)) {
      const { length } = embeddingRecord.embedding
      if (this.#queuedNumbers + length > MAX_QUEUED_NUMBERS) {
        this.#lost.add()
        continue
      }
      this.#queue.push(embeddingRecord)
      this.#queuedNumbers += length
    }
    if (this.#queue.length > 0) this.#writing ??= this.#drain()
  }

  /** Resolves when all queued embeddings have been written or the database has failed. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    await this.#table.close(CLOSE_TIMEOUT_S)
  }

  async #drain(): Promise<void> {
    const { signal } = this.#closing
    // Waits for the other embeddings of the frame, so that one insert writes all of them.
    await wait(0)
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, BATCH_SIZE)
      if (await this.#insert(batch)) {
        this.#queue.splice(0, batch.length)
        for (const { embedding } of batch) this.#queuedNumbers -= embedding.length
      } else {
        if (signal.aborted) break
        await sleep(RETRY_MS, signal)
      }
    }
    this.#writing = undefined
  }

  /**
   * Inserts a batch. Returns false if it should be retried. Embeddings that the
   * database rejects are lost.
   */
  async #insert(batch: EmbeddingRecord[]): Promise<boolean> {
    const timeoutMs = this.#closing.signal.aborted ? CLOSE_TIMEOUT_S * 1000 : INSERT_TIMEOUT_MS
    try {
      await withTimeout(timeoutMs, this.#table.insert(batch))
      this.#error = undefined
      return true
    } catch (error) {
      if (isInvalidData(error)) {
        // Each rejected embedding counts as lost.
        for (const _ of batch) this.#lost.add()
        return true
      }
      this.#error = describeError(error as Error)
      return false
    }
  }
}

/**
 * Whether the database would reject the data again: SQLSTATE class 22 (data exception) or 23
 * (constraint violation).
 */
const isInvalidData = (error: unknown) => /^2[23]/.test(String((error as { code?: unknown }).code))

/** Some network errors have a code but no message. */
const describeError = (error: Error & { code?: string }) =>
  error.message || error.code || 'the database does not answer'
