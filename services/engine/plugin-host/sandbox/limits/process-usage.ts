import { closeSync, existsSync, openSync, readSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second on all architectures. */
const MS_PER_TICK = 10
const NS_PER_MS = 1_000_000
/** Larger than each of the files that are read. */
const MAX_FILE_BYTES = 4096
/**
 * Positions of fields in `/proc/<pid>/stat` (proc_pid_stat(5)), counted from the first one after
 * the name of the program.
 */
const STATE = 0
const USER_TICKS = 11
const SYSTEM_TICKS = 12

/** The CPU time and the memory of a process, all threads together, as the kernel measures them. */
export interface ProcessUsage {
  /** CPU time since the start of the process. */
  cpuMs: number
  /** Memory in use, without the part that is swapped out. */
  residentBytes: number
  /**
   * Time since the start in which the main thread waited for a processor. 0 if the
   * kernel does not report it.
   */
  waitedMs: number
}

/**
 * Reads the usage of one process. Its files in /proc remain open, because they are read
 * several times a second.
 */
export class UsageReader {
  /** Descriptors of `stat`, `status` and `schedstat`, which not all kernels have. */
  readonly #stat: number
  readonly #status: number
  readonly #schedule: number | undefined
  readonly #buffer = Buffer.alloc(MAX_FILE_BYTES)
  /** The CPU time of the main thread at the last reading. */
  #lastRanNs = 0
  /** The last time, in ms, at which the main thread was known not to be waiting for a processor. */
  #lastServedAt = performance.now()

  /** Throws if the process does not exist. */
  constructor(pid: number) {
    this.#stat = openSync(`/proc/${pid}/stat`, 'r')
    this.#status = openSync(`/proc/${pid}/status`, 'r')
    this.#schedule = existsSync(`/proc/${pid}/schedstat`)
      ? openSync(`/proc/${pid}/schedstat`, 'r')
      : undefined
  }

  /** Returns undefined if the process has ended. */
  read(): ProcessUsage | undefined {
    try {
      const stat = this.#readText(this.#stat)
      // The name of the program is in parentheses, and may contain spaces and parentheses itself.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const resident = this.#readText(this.#status).match(/^VmRSS:\s+(\d+) kB/m)
      // The file of a process that has ended contains no memory. It exists until the parent has
      // read the exit status.
      if (!resident) return undefined
      return {
        cpuMs: (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * MS_PER_TICK,
        residentBytes: Number(resident[1]) * 1024,
        waitedMs: this.#readWaitedMs(fields[STATE] === 'R', performance.now()),
      }
    } catch {
      // The process no longer exists.
      return undefined
    }
  }

  close(): void {
    closeSync(this.#stat)
    closeSync(this.#status)
    if (this.#schedule !== undefined) closeSync(this.#schedule)
  }

  /**
   * Returns how long the main thread has waited for a processor since its start, in ms. The kernel
   * reports its CPU time and its waiting time, in ns. A current wait is not included until it is
   * over, so its length so far is estimated.
   */
  #readWaitedMs(isRunnable: boolean, now: number): number {
    if (this.#schedule === undefined) return 0
    const [ranNs = 0, waitedNs = 0] = this.#readText(this.#schedule).split(' ').map(Number)
    const wasServed = !isRunnable || ranNs !== this.#lastRanNs
    if (wasServed) this.#lastServedAt = now
    this.#lastRanNs = ranNs
    return waitedNs / NS_PER_MS + now - this.#lastServedAt
  }

  #readText(fd: number): string {
    const length = readSync(fd, this.#buffer, 0, MAX_FILE_BYTES, 0)
    return this.#buffer.toString('latin1', 0, length)
  }
}
