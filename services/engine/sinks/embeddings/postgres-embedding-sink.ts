import { setTimeout as sleep } from 'node:timers/promises'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import { withTimeout } from '@eyrie/kit/timeout'
import type { Sink, SinkRecord } from '../sink.ts'
import { type EmbeddingRecord, embeddingsIn } from './embedding-record.ts'
import { EmbeddingTable } from './embedding-table.ts'
import type { TableAddress } from './table-address.ts'

/** Numbers of vectors that may wait for the database. */
const QUEUED_NUMBERS = 4 << 20
const BATCH = 200
const RETRY_MS = 1000
const ANSWER_MS = 15_000
const LEAVE_S = 5

/** Writes the vectors of objects into a Postgres table, as fast as that takes them and after it has come back. */
export class PostgresEmbeddingSink implements Sink {
  readonly #name: string
  readonly #table: EmbeddingTable
  readonly #closing = new AbortController()
  readonly #lost = new RecentCounter()
  #waiting: EmbeddingRecord[] = []
  #waitingNumbers = 0
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
    for (const vector of embeddingsIn(record)) {
      if (this.#waitingNumbers + vector.embedding.length > QUEUED_NUMBERS) {
        this.#lost.add()
        continue
      }
      this.#waiting.push(vector)
      this.#waitingNumbers += vector.embedding.length
    }
    if (this.#waiting.length > 0) this.#writing ??= this.#drain()
  }

  /** Writes what waits, unless the database refuses it. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    await this.#table.close(LEAVE_S)
  }

  async #drain(): Promise<void> {
    // What one frame, and those close behind it, bring goes together.
    await sleep(0)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH)
      try {
        await withTimeout(
          this.#closing.signal.aborted ? LEAVE_S * 1000 : ANSWER_MS,
          this.#table.insert(batch),
        )
        this.#error = undefined
      } catch (error) {
        if (isRefusal(error)) for (const _ of batch) this.#lost.add()
        else {
          this.#error = explain(error as Error)
          if (this.#closing.signal.aborted) break
          await sleep(RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
          continue
        }
      }
      for (const { embedding } of this.#waiting.splice(0, batch.length))
        this.#waitingNumbers -= embedding.length
    }
    this.#writing = undefined
  }
}

/** Whether the database does not want this data, and would not want it later either (SQLSTATE classes 22 and 23). */
const isRefusal = (error: unknown) => /^2[23]/.test(String((error as { code?: unknown }).code))

/** Some network errors have no message but a code. */
const explain = (error: Error & { code?: string }) => error.message || error.code || 'it does not answer'
