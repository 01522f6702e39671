import { closeSync, openSync, readSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second on all architectures. */
const MS_PER_TICK = 10
/** Longer than the files are. */
const MAX_FILE_BYTES = 4096
/** Fields of `stat` after the name of the program, which may contain spaces and parentheses. */
const USER_TICKS = 11
const SYSTEM_TICKS = 12

/** What a process uses, all threads together, as the kernel measures it. */
export interface ProcessUsage {
  /** CPU time since its start. */
  cpuMs: number
  /** Memory in bytes, without what is swapped out. */
  residentBytes: number
}

/** Reads the usage of one process again and again. */
export class UsageReader {
  readonly #stat: number
  readonly #status: number
  readonly #buffer = Buffer.alloc(MAX_FILE_BYTES)

  /** Throws if the process does not exist. */
  constructor(pid: number) {
    this.#stat = openSync(`/proc/${pid}/stat`, 'r')
    this.#status = openSync(`/proc/${pid}/status`, 'r')
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
      }
    } catch {
      return undefined
    }
  }

  close(): void {
    closeSync(this.#stat)
    closeSync(this.#status)
  }

  #readText(fd: number): string {
    const length = readSync(fd, this.#buffer, 0, MAX_FILE_BYTES, 0)
    return this.#buffer.toString('latin1', 0, length)
  }
}
