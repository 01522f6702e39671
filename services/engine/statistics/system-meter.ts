import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { SystemStatistics } from '@eyrie/contract'

const INTERVAL_MS = 1000

/** CPU and memory load of the machine that the engine runs on. */
export interface SystemMeter {
  read(): Promise<SystemStatistics>
  stop(): void
}

export function createSystemMeter(): SystemMeter {
  let previous = readCpuTimes()
  let cpu = 0
  const timer = setInterval(() => {
    const current = readCpuTimes()
    cpu = busyPercent(previous, current)
    previous = current
  }, INTERVAL_MS)
  timer.unref()
  return {
    read: async () => ({
      cpu,
      ...memoryInUse(await readFile('/proc/meminfo', 'utf8')),
      uptime: Math.round(process.uptime()),
      time: new Date().toISOString(),
    }),
    stop: () => clearInterval(timer),
  }
}

interface CpuTimes {
  busy: number
  total: number
}

/** CPU times of all cores, in kernel ticks. Faster than `os.cpus`, which also reads the frequency of every core. */
function readCpuTimes(): CpuTimes {
  const [allCores = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softIrq = 0, steal = 0] = allCores
    .split(/ +/)
    .slice(1)
    .map(Number)
  const busy = user + nice + system + irq + softIrq + steal
  return { busy, total: busy + idle + iowait }
}

/** Percentage of all cores that was busy between two readings. */
export function busyPercent(before: CpuTimes, now: CpuTimes): number {
  const total = now.total - before.total
  return total > 0 ? Math.round((1000 * (now.busy - before.busy)) / total) / 10 : 0
}

/** Bytes in use of RAM, and of RAM and swap together. Reclaimable caches do not count as used. */
export function memoryInUse(meminfo: string): Pick<SystemStatistics, 'mem_physical' | 'mem_virtual'> {
  const bytes = (name: string) =>
    1024 * Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? 0)
  const physical = bytes('MemTotal') - bytes('MemAvailable')
  return { mem_physical: physical, mem_virtual: physical + bytes('SwapTotal') - bytes('SwapFree') }
}
