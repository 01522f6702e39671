import type { Log } from '@eyrie/element'
import { TokenBucket } from './token-bucket.ts'

/** Entries beyond this rate are suppressed: neither parsed nor written. */
const BURST_ENTRIES = 100
const ENTRIES_PER_SECOND = 10
/** Even suppressed entries cost the engine time. Beyond this rate, the process must be ended. */
const BURST_BYTES = 4 * 2 ** 20
const BYTES_PER_SECOND = 256 * 2 ** 10
/** Longer messages are cut off. */
const MAX_TEXT_LENGTH = 2000

/**
 * Forwards the log of one sandboxed process to the log of the engine, and limits its rate.
 * Times (`now`) are in ms.
 */
export class LogIntake {
  readonly #log: Log
  readonly #fields: object
  readonly #entries: TokenBucket
  readonly #bytes: TokenBucket
  /** Number of entries suppressed since the last report. */
  #suppressedCount = 0

  /** `fields` are added to each entry. They name the plugin. */
  constructor(log: Log, fields: object, now: number) {
    this.#log = log
    this.#fields = fields
    this.#entries = new TokenBucket(BURST_ENTRIES, ENTRIES_PER_SECOND, now)
    this.#bytes = new TokenBucket(BURST_BYTES, BYTES_PER_SECOND, now)
  }

  /**
   * Counts an entry that the process has sent. Returns true if the entry may be parsed and written,
   * and false if it is suppressed.
   */
  countEntry(now: number): boolean {
    if (!this.#entries.take(1, now)) {
      this.#suppressedCount += 1
      return false
    }
    this.reportSuppressed()
    return true
  }

  /**
   * Counts bytes that the process has sent. Returns why the process must be ended;
   * undefined if it need not.
   */
  countBytes(bytes: number, now: number): string | undefined {
    if (this.#bytes.take(bytes, now)) return undefined
    return `it writes more than ${BYTES_PER_SECOND >> 10} KiB of log per second`
  }

  /** Writes an entry. Its fields and message come from the plugin, and may be anything. */
  write(level: keyof Log, fields: unknown, message: unknown): void {
    const hasFields = typeof fields === 'object' && fields !== null && !Array.isArray(fields)
    // The fields of the engine replace those of the plugin.
    const allFields = { ...(hasFields && fields), ...this.#fields }
    this.#log[level](allFields, String(message).slice(0, MAX_TEXT_LENGTH))
  }

  /** Logs how many entries were suppressed since the last report. */
  reportSuppressed(): void {
    if (this.#suppressedCount === 0) return
    const fields = { ...this.#fields, suppressed: this.#suppressedCount }
    this.#log.warn(fields, 'suppressed log entries of plugin')
    this.#suppressedCount = 0
  }
}
