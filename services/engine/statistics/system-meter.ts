import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { SystemStatistics } from '@eyrie/contract'

const INTERVAL_MS = 1000

/** Measures the CPU and memory load of the machine. CPU load is averaged over the last second. */
export interface SystemMeter {
  read(): Promise<SystemStatistics>
  stop(): void
}

export function createSystemMeter(): SystemMeter {
  let previous = readCpuTimes()
  let cpu = 0
  const timer = setInterval(() => {
    const current = readCpuTimes()
    cpu = computeBusyPercent(previous, current)
    previous = current
  }, INTERVAL_MS)
  timer.unref()
  return {
    read: async () => ({
      cpu,
      ...parseMemoryInUse(await readFile('/proc/meminfo', 'utf8')),
      uptime: Math.round(process.uptime()),
      time: new Date().toISOString(),
    }),
    stop: () => clearInterval(timer),
  }
}

/** CPU time since the start of the machine, in kernel ticks. */
interface CpuTimes {
  busy: number
  total: number
}

/**
 * Reads the sum over all cores from the first line of /proc/stat (proc_stat(5)), because
 * `os.cpus` is slower.
 */
function readCpuTimes(): CpuTimes {
  const [allCores = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softIrq = 0, steal = 0] =
    allCores.split(/ +/).slice(1).map(Number)

  // The further columns, the time of guests, are part of `user` and `nice`.
  const busy = user + nice + system + irq + softIrq + steal
  return { busy, total: busy + idle + iowait }
}

/**
 * Returns the share of CPU time that was busy between two readings, in percent with one decimal.
 */
export function computeBusyPercent(before: CpuTimes, now: CpuTimes): number {
  const total = now.total - before.total
  if (total <= 0) return 0
  const permille = Math.round((1000 * (now.busy - before.busy)) / total)
  return permille / 10
}

/**
 * Returns the bytes in use of RAM (physical), and of RAM and swap together (virtual), from the
 * content of /proc/meminfo. Reclaimable caches do not count as used.
 */
export function parseMemoryInUse(
  meminfo: string,
): Pick<SystemStatistics, 'mem_physical' | 'mem_virtual'> {
  const readBytes = (field: string) => {
    const kibibytes = new RegExp(`^${field}: +(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? 0
    return 1024 * Number(kibibytes)
  }
  const physical = readBytes('MemTotal') - readBytes('MemAvailable')
  const swap = readBytes('SwapTotal') - readBytes('SwapFree')
  return { mem_physical: physical, mem_virtual: physical + swap }
}
