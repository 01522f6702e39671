import type { Log } from '@eyrie/element'
import { TokenBucket } from './token-bucket.ts'

const BURST_ENTRIES = 100
const ENTRIES_PER_SECOND = 10
/** Entries beyond the limit are suppressed, which costs the engine time as well. Beyond these limits, the process is ended. */
const BURST_BYTES = 4 * 2 ** 20
const BYTES_PER_SECOND = 256 * 2 ** 10
const MAX_TEXT_LENGTH = 2000

/** Forwards the log of one process, as much as the engine can afford. */
export class LogIntake {
  readonly #log: Log
  readonly #fields: object
  readonly #entries: TokenBucket
  readonly #bytes: TokenBucket
  #suppressed = 0

  /** `fields` are added to each entry. */
  constructor(log: Log, fields: object, now: number) {
    this.#log = log
    this.#fields = fields
    this.#entries = new TokenBucket(BURST_ENTRIES, ENTRIES_PER_SECOND, now)
    this.#bytes = new TokenBucket(BURST_BYTES, BYTES_PER_SECOND, now)
  }

  /** Whether an entry of this length may be parsed and written. Suppressed entries are counted. */
  admits(now: number): boolean {
    if (!this.#entries.take(1, now)) {
      this.#suppressed += 1
      return false
    }
    this.reportSuppressed()
    return true
  }

  /** Counts what the process sends. Returns why the process must be ended; undefined if it need not. */
  countBytes(bytes: number, now: number): string | undefined {
    if (this.#bytes.take(bytes, now)) return undefined
    return `it writes more than ${BYTES_PER_SECOND >> 10} KiB of log per second`
  }

  write(level: keyof Log, fields: unknown, message: unknown): void {
    const own = typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? fields : {}
    this.#log[level]({ ...own, ...this.#fields }, String(message).slice(0, MAX_TEXT_LENGTH))
  }

  /** Logs how many entries were suppressed since the last report. */
  reportSuppressed(): void {
    if (this.#suppressed === 0) return
    this.#log.warn({ ...this.#fields, suppressed: this.#suppressed }, 'suppressed log entries of plugin')
    this.#suppressed = 0
  }
}
