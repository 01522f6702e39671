import { readdirSync, readFileSync } from 'node:fs'

/**
 * Linux reports CPU time to user space in hundredths of a second (sysconf(_SC_CLK_TCK) is 100 on
 * every architecture).
 */
const CLOCK_TICKS_PER_SECOND = 100

/** Fields of /proc/…/stat after the command name, which may contain spaces and parentheses. */
function statFields(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** User and system time of a process in seconds, all threads together. */
export function processCpu(pid: number): number {
  const fields = statFields(`/proc/${pid}/stat`)
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}

/**
 * User and system time in seconds of the children of a process that have exited; of
 * this process by default.
 */
export function childrenCpu(pid: number | 'self' = 'self'): number {
  const fields = statFields(`/proc/${pid}/stat`)
  return (Number(fields[13]) + Number(fields[14])) / CLOCK_TICKS_PER_SECOND
}

/** User and system time in seconds of a process's main thread, where Node runs JavaScript. */
export function mainThreadCpu(pid: number): number {
  const fields = statFields(`/proc/${pid}/task/${pid}/stat`)
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}

/** Resident memory of a process in bytes. */
export function residentMemory(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m)
  return Number(line?.[1]) * 1024
}

/** Memory of a process in bytes, without pages of files, which processes share. */
export function anonymousMemory(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^RssAnon:\s+(\d+) kB/m)
  return Number(line?.[1]) * 1024
}

/** Like `processCpu`, with the running descendants of the process included. */
export const treeCpu = (pid: number): number =>
  processTree(pid).reduce((sum, process) => sum + processCpu(process), 0)

/** A process and all its running descendants. */
export function processTree(pid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter(each => each > 0 && parentPid(each) === pid)
  return [pid, ...children.flatMap(processTree)]
}

function parentPid(pid: number): number | undefined {
  try {
    return Number(statFields(`/proc/${pid}/stat`)[1])
  } catch {
    return undefined
  }
}

/**
 * CPU time of the machine since boot in seconds: in total, and stolen by other
 * guests of the same host.
 */
export function machineCpu(): { total: number; stolen: number } {
  const fields = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/ +/)
    .slice(1, 9)
    .map(Number)
  return {
    total: fields.reduce((a, b) => a + b, 0) / CLOCK_TICKS_PER_SECOND,
    stolen: fields[7]! / CLOCK_TICKS_PER_SECOND,
  }
}
