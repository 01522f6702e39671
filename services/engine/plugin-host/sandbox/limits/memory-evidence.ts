import { MAX_RESIDENT_BYTES } from './usage-limits.ts'

/** A process that uses more than this share of its memory may have broken for lack of it. */
const SUSPICIOUS_SHARE = 1 / 2
const BYTES_PER_MIB = 2 ** 20
const MAX_MIB = MAX_RESIDENT_BYTES / BYTES_PER_MIB

/**
 * Errors of V8 and Node for lack of memory: `JavaScript heap out of memory`,
 * `Array buffer allocation failed`.
 */
const OUT_OF_MEMORY = /out of memory|allocation failed/i

/**
 * What is known about the memory of a process. Between two samples it may run out of memory, and
 * then ends by a signal, or no longer answers, which does not say why.
 */
export class MemoryEvidence {
  #residentBytes = 0
  #isExhausted = false

  /** Receives a sample of the memory of the process. */
  sample(residentBytes: number): void {
    this.#residentBytes = residentBytes
  }

  /** Receives what the process prints. */
  inspect(output: string): void {
    if (OUT_OF_MEMORY.test(output)) this.#isExhausted = true
  }

  /** Adds the memory to the reason why the process broke, if it may be the cause. */
  explain(reason: string): string {
    if (reason.includes('MiB of memory')) return reason
    if (this.#isExhausted || OUT_OF_MEMORY.test(reason)) {
      return `${reason}, because it has used up its ${MAX_MIB} MiB of memory`
    }
    if (this.#residentBytes <= MAX_RESIDENT_BYTES * SUSPICIOUS_SHARE) return reason
    const mib = Math.round(this.#residentBytes / BYTES_PER_MIB)
    return `${reason}, when it used ${mib} of its ${MAX_MIB} MiB of memory`
  }
}
