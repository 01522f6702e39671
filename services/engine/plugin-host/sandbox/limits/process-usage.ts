import { closeSync, existsSync, openSync, readSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second on all architectures. */
const MS_PER_TICK = 10
const NS_PER_MS = 1_000_000
/** Longer than the files are. */
const MAX_FILE_BYTES = 4096
/** Fields of `stat` after the name of the program, which may contain spaces and parentheses. */
const STATE = 0
const USER_TICKS = 11
const SYSTEM_TICKS = 12

/** What a process uses, all threads together, as the kernel measures it. */
export interface ProcessUsage {
  /** CPU time since its start. */
  cpuMs: number
  /** Memory in bytes, without what is swapped out. */
  residentBytes: number
  /** Time in which its main thread could have run, but had no processor. 0 if the kernel does not report it. */
  waitedMs: number
}

/** Reads the usage of one process again and again. */
export class UsageReader {
  readonly #stat: number
  readonly #status: number
  readonly #schedule: number | undefined
  readonly #buffer = Buffer.alloc(MAX_FILE_BYTES)
  /** Time on a processor in ns, and the last time in ms at which the main thread is known to have had one, or to need none. */
  #served = { ranNs: 0, at: performance.now() }

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
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const resident = this.#readText(this.#status).match(/^VmRSS:\s+(\d+) kB/m)
      if (!resident) return undefined
      return {
        cpuMs: (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * MS_PER_TICK,
        residentBytes: Number(resident[1]) * 1024,
        waitedMs: this.#readWaitedMs(fields[STATE] === 'R', performance.now()),
      }
    } catch {
      return undefined
    }
  }

  close(): void {
    closeSync(this.#stat)
    closeSync(this.#status)
    if (this.#schedule !== undefined) closeSync(this.#schedule)
  }

  /**
   * The file contains the time on a processor, and that of waiting for one, both in ns. The kernel adds a wait when it is over, so
   * that the present one is estimated.
   */
  #readWaitedMs(isRunnable: boolean, now: number): number {
    if (this.#schedule === undefined) return 0
    const [ranNs = 0, waitedNs = 0] = this.#readText(this.#schedule).split(' ').map(Number)
    if (!isRunnable || ranNs !== this.#served.ranNs) this.#served = { ranNs, at: now }
    return waitedNs / NS_PER_MS + now - this.#served.at
  }

  #readText(fd: number): string {
    const length = readSync(fd, this.#buffer, 0, MAX_FILE_BYTES, 0)
    return this.#buffer.toString('latin1', 0, length)
  }
}
