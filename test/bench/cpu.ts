import { readFileSync } from 'node:fs'

/** Linux counts CPU time for userland in hundredths of a second (sysconf(_SC_CLK_TCK) is 100 on every architecture). */
const ticksPerSecond = 100

/** Fields of /proc/…/stat after the command's name, which may hold spaces and brackets. */
function stat(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** User and system time in seconds that a process has used, all threads together. */
export function processCpu(pid: number): number {
  const fields = stat(`/proc/${pid}/stat`)
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The same for its main thread alone, where Node runs JavaScript. */
export function mainThreadCpu(pid: number): number {
  const fields = stat(`/proc/${pid}/task/${pid}/stat`)
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Resident memory of a process in bytes. */
export function residentMemory(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m)
  return Number(line?.[1]) * 1024
}
