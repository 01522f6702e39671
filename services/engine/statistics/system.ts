import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import type { SystemStatistics } from '@eyrie/contract'

const INTERVAL_MS = 1000

/** CPU and memory load of the machine that the engine runs on. */
export interface SystemMeter {
  read(): Promise<SystemStatistics>
  stop(): void
}

export function createSystemMeter(): SystemMeter {
  let before = cpuTimes()
  let cpu = 0
  const timer = setInterval(() => {
    const now = cpuTimes()
    cpu = busyPercent(before, now)
    before = now
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

function cpuTimes(): CpuTimes {
  const times = cpus().map(cpu => cpu.times)
  const total = times.flatMap(time => Object.values(time)).reduce((sum, ms) => sum + ms, 0)
  return { total, busy: total - times.reduce((sum, time) => sum + time.idle, 0) }
}

/** Share of all cores that was busy between two readings, 0..100. */
export function busyPercent(before: CpuTimes, now: CpuTimes): number {
  const total = now.total - before.total
  return total > 0 ? Math.round((1000 * (now.busy - before.busy)) / total) / 10 : 0
}

/** Bytes in use: of RAM, and of RAM and swap together. Linux counts caches that it can drop as available. */
export function memoryInUse(meminfo: string): Pick<SystemStatistics, 'mem_physical' | 'mem_virtual'> {
  const bytes = (name: string) =>
    1024 * Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? 0)
  const physical = bytes('MemTotal') - bytes('MemAvailable')
  return { mem_physical: physical, mem_virtual: physical + bytes('SwapTotal') - bytes('SwapFree') }
}
