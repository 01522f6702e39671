import { readdirSync, readFileSync } from 'node:fs'

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

/** User and system time in seconds of this process's children that have ended. */
export function childrenCpu(): number {
  const fields = stat('/proc/self/stat')
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}

/** User and system time in seconds of a process's main thread alone, where Node runs JavaScript. */
export function mainThreadCpu(pid: number): number {
  const fields = stat(`/proc/${pid}/task/${pid}/stat`)
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Resident memory of a process in bytes. */
export function residentMemory(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m)
  return Number(line?.[1]) * 1024
}

/** As `processCpu`, together with the processes that it has started and that still run. */
export const treeCpu = (pid: number): number =>
  processTree(pid).reduce((sum, process) => sum + processCpu(process), 0)

/** A process and those that it has started, with theirs. */
export function processTree(pid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter(each => each > 0 && parentOf(each) === pid)
  return [pid, ...children.flatMap(processTree)]
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(stat(`/proc/${pid}/stat`)[1])
  } catch {
    return undefined
  }
}

/** Of the machine's CPU time since it began: seconds in all, and those that other machines of the same host have taken (steal). */
export function machineCpu(): { all: number; stolen: number } {
  const fields = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/ +/).slice(1, 9).map(Number)
  return { all: fields.reduce((a, b) => a + b, 0) / ticksPerSecond, stolen: fields[7]! / ticksPerSecond }
}
