import { readdir, readFile } from 'node:fs/promises'

/** Matches the name of a source's thread: the kind of work, and the id of the source. */
const SOURCE_THREAD = /^(decode|scale)-(\d+)[-:]/
/** Newer versions of libavcodec choose a thread name, which does not contain the source. */
const LIBAVCODEC_THREAD = /^av:/
/** Linux counts CPU time in hundredths of a second on every architecture. */
const MS_PER_CLOCK_TICK = 10
const TASKS = '/proc/self/task'
/** Numbers of the fields `utime` and `stime` in proc_pid_stat(5). */
const USER_TIME_FIELD = 14
const KERNEL_TIME_FIELD = 15

/** A thread of this process, and its CPU time in ms since it was started. */
export interface ThreadTime {
  tid: string
  name: string
  ms: number
}

/** CPU time of one source's threads between two readings. */
export interface SourceTime {
  decodeMs: number
  scaleMs: number
}

/**
 * Names of the GStreamer queues that decode and scale a source. GStreamer names the thread of a
 * queue after the queue's pad, and threads that libavcodec starts from this thread inherit the
 * name. Linux truncates names to 15 characters.
 */
export const decodeQueueName = (source: number) => `decode-${source}`
export const scaleQueueName = (source: number, view: number) => `scale-${source}-${view}`

/** Returns all threads of this process. */
export async function readThreads(): Promise<ThreadTime[]> {
  const tids = await readdir(TASKS)
  const threads = await Promise.all(tids.map(readThread))
  return threads.filter(thread => thread !== undefined)
}

/** Returns undefined for a thread that has ended. */
async function readThread(tid: string): Promise<ThreadTime | undefined> {
  const stat = await readFile(`${TASKS}/${tid}/stat`, 'utf8').catch(() => undefined)
  return stat === undefined ? undefined : parseThreadTime(tid, stat)
}

/**
 * Parses the `stat` file of a thread: see proc_pid_stat(5). The name is in parentheses and may
 * contain any character.
 */
export function parseThreadTime(tid: string, stat: string): ThreadTime {
  const nameEnd = stat.lastIndexOf(')')
  // The manual counts fields from 1. The name is field 2, so the first one here is field 3.
  const fieldsAfterName = stat.slice(nameEnd + 2).split(' ')
  const field = (number: number) => Number(fieldsAfterName[number - 3])
  const clockTicks = field(USER_TIME_FIELD) + field(KERNEL_TIME_FIELD)
  return {
    tid,
    name: stat.slice(stat.indexOf('(') + 1, nameEnd),
    ms: clockTicks * MS_PER_CLOCK_TICK,
  }
}

/**
 * Returns the CPU time that each source has used between two readings, by source. All sources
 * share this process, so the names of the threads tell which source they work for. The time of
 * libavcodec threads whose names do not contain a source is distributed in proportion to the
 * decoding time of the sources.
 */
export function attributeTimes(
  earlier: readonly ThreadTime[],
  later: readonly ThreadTime[],
): Map<number, SourceTime> {
  const earlierTimes = new Map(earlier.map(thread => [thread.tid, thread.ms]))
  const times = new Map<number, SourceTime>()
  let unattributedMs = 0

  for (const { tid, name, ms } of later) {
    const earlierMs = earlierTimes.get(tid) ?? 0
    // If the time has decreased, this is a new thread with the ID of a thread that has ended.
    const elapsedMs = ms < earlierMs ? ms : ms - earlierMs
    if (LIBAVCODEC_THREAD.test(name)) unattributedMs += elapsedMs

    const [, work, source] = SOURCE_THREAD.exec(name) ?? []
    if (!source) continue
    const time = times.get(Number(source)) ?? { decodeMs: 0, scaleMs: 0 }
    if (work === 'decode') time.decodeMs += elapsedMs
    else time.scaleMs += elapsedMs
    times.set(Number(source), time)
  }

  distributeDecodeTime(times, unattributedMs)
  return times
}

function distributeDecodeTime(
  times: ReadonlyMap<number, SourceTime>,
  unattributedMs: number,
): void {
  let totalDecodeMs = 0
  for (const { decodeMs } of times.values()) totalDecodeMs += decodeMs
  if (totalDecodeMs === 0) return
  for (const time of times.values()) time.decodeMs *= 1 + unattributedMs / totalDecodeMs
}
