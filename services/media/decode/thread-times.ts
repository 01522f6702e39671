import { readdir, readFile } from 'node:fs/promises'

/** A thread of this process and the CPU time that it has used since it began. */
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
 * Names of the queues whose threads do a source's work: GStreamer names a thread after the pad that it pushes, and
 * what libavcodec starts on it inherits the name. Linux keeps 15 characters.
 */
export const decodeQueue = (source: number) => `decode-${source}`
export const scaleQueue = (source: number, view: number) => `scale-${source}-${view}`

const OWN = /^(decode|scale)-(\d+)[-:]/
/** Newer libavcodec names its threads itself, without a word of whose they are. */
const LIBAVCODEC = /^av:/

/** Linux counts CPU time for userland in hundredths of a second on every architecture. */
const MS_PER_TICK = 10

const tasks = '/proc/self/task'

export async function readThreads(): Promise<ThreadTime[]> {
  const read = (tid: string) =>
    readFile(`${tasks}/${tid}/stat`, 'utf8').then(
      text => [threadTime(tid, text)],
      // It has ended since the folder was read.
      () => [],
    )
  return (await Promise.all((await readdir(tasks)).map(read))).flat()
}

/** A thread's line in proc(5); its name stands in brackets and may hold any character. */
export function threadTime(tid: string, stat: string): ThreadTime {
  const end = stat.lastIndexOf(')')
  const fields = stat.slice(end + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return { tid, name: stat.slice(stat.indexOf('(') + 1, end), ms: ticks * MS_PER_TICK }
}

/**
 * What the threads of each source have used between two readings. Threads of libavcodec that name no source are
 * shared out in proportion to what the sources' own decoding threads have used.
 */
export function timesBySource(
  before: readonly ThreadTime[],
  now: readonly ThreadTime[],
): Map<number, SourceTime> {
  const known = new Map(before.map(thread => [thread.tid, thread.ms]))
  const times = new Map<number, SourceTime>()
  let nobodysMs = 0
  for (const { tid, name, ms } of now) {
    const knownMs = known.get(tid) ?? 0
    // Numbers of threads that have ended are given to others.
    const usedMs = ms < knownMs ? ms : ms - knownMs
    const [, work, source] = OWN.exec(name) ?? []
    if (LIBAVCODEC.test(name)) nobodysMs += usedMs
    if (!source) continue
    const time = times.get(Number(source)) ?? { decodeMs: 0, scaleMs: 0 }
    if (work === 'decode') time.decodeMs += usedMs
    else time.scaleMs += usedMs
    times.set(Number(source), time)
  }
  const decodeMs = [...times.values()].reduce((sum, time) => sum + time.decodeMs, 0)
  if (decodeMs > 0) for (const time of times.values()) time.decodeMs *= 1 + nobodysMs / decodeMs
  return times
}
