import { readdir, readFile } from 'node:fs/promises'

/** A thread of this process and its CPU time since it started. */
export interface ThreadTime {
  tid: string
  name: string
  ms: number
}

/** CPU time of one source's threads between two readings, in ms. */
export interface SourceTime {
  decodeMs: number
  scaleMs: number
}

/**
 * Names of the queues whose threads decode and scale a source. GStreamer names a thread after the pad that it pushes to, and
 * threads that libavcodec starts from it inherit the name. Linux truncates names to 15 characters.
 */
export const decodeQueueName = (source: number) => `decode-${source}`
export const scaleQueueName = (source: number, view: number) => `scale-${source}-${view}`

const SOURCE_THREAD = /^(decode|scale)-(\d+)[-:]/
/** Newer versions of libavcodec name their threads themselves, without the source. */
const LIBAVCODEC_THREAD = /^av:/

/** Linux counts CPU time in hundredths of a second on every architecture. */
const MS_PER_CLOCK_TICK = 10

const TASKS = '/proc/self/task'

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

/** Parses a thread's `stat` file, see proc(5). The name is in parentheses and may contain any character. */
export function parseThreadTime(tid: string, stat: string): ThreadTime {
  const nameEnd = stat.lastIndexOf(')')
  const fields = stat.slice(nameEnd + 2).split(' ')
  const clockTicks = Number(fields[11]) + Number(fields[12])
  return { tid, name: stat.slice(stat.indexOf('(') + 1, nameEnd), ms: clockTicks * MS_PER_CLOCK_TICK }
}

/**
 * Returns the CPU time of each source's threads between two readings. The time of libavcodec threads that do not name a source
 * is distributed in proportion to the sources' own decoding time.
 */
export function attributeTimes(
  before: readonly ThreadTime[],
  now: readonly ThreadTime[],
): Map<number, SourceTime> {
  const msBefore = new Map(before.map(thread => [thread.tid, thread.ms]))
  const times = new Map<number, SourceTime>()
  let unattributedMs = 0
  for (const { tid, name, ms } of now) {
    const earlierMs = msBefore.get(tid) ?? 0
    // A thread with less time than before has the id of one that has ended.
    const elapsedMs = ms < earlierMs ? ms : ms - earlierMs
    const [, work, source] = SOURCE_THREAD.exec(name) ?? []
    if (LIBAVCODEC_THREAD.test(name)) unattributedMs += elapsedMs
    if (!source) continue
    const time = times.get(Number(source)) ?? { decodeMs: 0, scaleMs: 0 }
    if (work === 'decode') time.decodeMs += elapsedMs
    else time.scaleMs += elapsedMs
    times.set(Number(source), time)
  }
  let totalDecodeMs = 0
  for (const time of times.values()) totalDecodeMs += time.decodeMs
  if (totalDecodeMs > 0)
    for (const time of times.values()) time.decodeMs *= 1 + unattributedMs / totalDecodeMs
  return times
}
