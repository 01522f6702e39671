import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { RecordedEventList, RecordedRange } from '@eyrie/contract'
import { createClip } from '../format/clip.ts'
import { type IndexedEvent, parseEvents } from '../format/metadata-lines.ts'
import type { TimelinePosition } from '../format/playback-timeline.ts'
import { readSegment, type SegmentContent, type SegmentInfo } from '../format/segment-format.ts'
import {
  openRecordingIndex,
  type RecordingIndex,
  type RetentionPolicy,
  type SegmentRow,
} from './recording-index.ts'
import { readSegmentMetadata } from './segment-metadata.ts'

export interface DiskReserve {
  bytes: number
  /** Of the disk. */
  percent: number
}

export interface ArchiveOptions {
  folder: string
  reserve: DiskReserve
  /** Bytes of the disk that are free and that it has; asked of the file system if left out. */
  room?(): { free: number; size: number }
}

/** Of the disk, after what had to go has gone. */
export interface DiskSpace {
  freeBytes: number
  reserveBytes: number
  /** Less is free than is to stay free, and nothing is left to go. */
  full: boolean
}

/** Times are told in ms: who asks from where a range begins does not mean the file before it. */
const ROUNDING_US = 1000
/** So many events are listed at once. */
const MOST_EVENTS = 10_000

/** Two seconds without a picture are a hole that is told. */
const HOLE_US = 2_000_000

/**
 * The recordings on disk with their index, and who has to go. All is done at once: it lives in a thread of its own, so
 * that no disk holds up who brings packets.
 */
export type Archive = ReturnType<typeof createArchive>

export function createArchive({ folder, reserve, room = () => roomOf(folder) }: ArchiveOptions) {
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  const index = openOrBegin(join(folder, 'index.db'))
  /** Of what is being written now; the index learns it at the end. */
  const growing = new Map<number, Pick<SegmentRow, 'endUs' | 'bytes'>>()
  const found = unknownFiles(folder, index)
  let rebuilding = found.length > 0

  const path = (file: string) => join(folder, file)
  const current = (row: SegmentRow): SegmentRow => ({ ...row, ...growing.get(row.id) })

  function discard({ id, file }: Pick<SegmentRow, 'id' | 'file'>) {
    rmSync(path(file), { force: true })
    rmSync(path(metadataFile(file)), { force: true })
    index.remove(id)
  }

  function removeOutdated(nowUs: number) {
    for (const { source, keep_s, keep_bytes } of index.listPolicies()) {
      if (keep_s !== undefined) index.findEndedBefore(source, nowUs - keep_s * 1e6).forEach(discard)
      if (keep_bytes === undefined) continue
      let bytes = index.sumBytes(source)
      for (let row = index.findOldest(source); row && bytes > keep_bytes; row = index.findOldest(source)) {
        bytes -= row.bytes
        discard(row)
      }
    }
  }

  return {
    /** Takes up what the index does not know: at the beginning, and after a crash. */
    async rebuild(): Promise<number> {
      for (const file of found) {
        adopt(folder, file, index)
        await turn()
      }
      rebuilding = false
      return found.length
    },
    rebuilding: () => rebuilding,

    begin(about: SegmentInfo, beginUs: number): { id: number; path: string } {
      mkdirSync(path(String(about.source)), { recursive: true, mode: 0o750 })
      const file = freeName(folder, about.source, beginUs)
      const { source, epoch, codecs, width, height } = about
      const row = { source, file, epoch, codecs, width, height, beginUs, endUs: beginUs, bytes: 0, open: 1 }
      return { id: index.insert(row), path: path(file) }
    },
    grow(id: number, endUs: number, bytes: number, events: readonly IndexedEvent[] = []): void {
      growing.set(id, { endUs, bytes })
      for (const event of events) index.addEvent(id, event)
    },
    /** Of nothing, nothing is kept. */
    close(id: number, file: string, endUs: number, bytes: number): void {
      growing.delete(id)
      if (bytes > 0) index.update(id, { endUs, bytes, open: 0 })
      else discard({ id, file: file.slice(folder.length + 1) })
    },

    keep: (source: number, policy: RetentionPolicy): void => index.setPolicy(source, policy),

    /** Lets go what is too old or too much, and the oldest of all where the disk has too little room. */
    tidy(nowUs: number): DiskSpace {
      removeOutdated(nowUs)
      const { free, size } = room()
      const reserveBytes = Math.max(reserve.bytes, Math.round((size * reserve.percent) / 100))
      let freeBytes = free
      for (let row = index.findOldest(); row && freeBytes < reserveBytes; row = index.findOldest()) {
        discard(row)
        freeBytes += row.bytes
      }
      return { freeBytes, reserveBytes, full: freeBytes < reserveBytes }
    },

    sources: index.listSources,
    segments: (source: number, fromUs: number, toUs: number): (SegmentRow & { path: string })[] =>
      index
        .findSegments(source, fromUs, toUs)
        .map(row => ({ ...current(row), path: path(row.file) }))
        .filter(({ bytes, endUs }) => bytes > 0 && endUs - fromUs >= ROUNDING_US),
    /** When its first and last picture were taken; undefined where nothing is recorded. */
    extent(source: number): { first: string; last: string } | undefined {
      const [first, last] = index.findFirstAndLast(source)?.map(current) ?? []
      return first && last && { first: toIsoTime(first.beginUs), last: toIsoTime(last.endUs) }
    },
    /** The path of a file of this name; undefined where there is none. */
    segmentAt(source: number, name: string): string | undefined {
      const file = `${source}/${name}`
      return index.hasFile(source, file) ? path(file) : undefined
    },
    ranges: (source: number, fromUs: number, toUs: number): RecordedRange[] =>
      rangesOf(
        index
          .findSegments(source, fromUs, toUs)
          .map(current)
          .filter(({ bytes }) => bytes > 0),
      ),

    events(source: number, fromUs: number, toUs: number): RecordedEventList {
      const found = index.findEvents(source, fromUs, toUs, MOST_EVENTS + 1)
      const events = found.slice(0, MOST_EVENTS).map(({ timeUs, data, ...event }) => ({
        ...event,
        time: toIsoTime(timeUs),
        data: JSON.parse(data),
      }))
      return { events, more: found.length > MOST_EVENTS }
    },

    /** Undefined where it has gone meanwhile. */
    read(file: string): SegmentContent | undefined {
      return existsSync(file) ? readSegment(file) : undefined
    },
    clip(source: number, fromUs: number, toUs: number) {
      return createClip(this.segments(source, fromUs, toUs), fromUs, toUs)
    },
    metadata(row: SegmentRow & { path: string }, fromUs: number, toUs: number, placement: TimelinePosition) {
      const next = index.findNextSegment(row.source, row.beginUs)
      const files = [row.file, ...(next ? [next.file] : [])].map(file => path(metadataFile(file)))
      return readSegmentMetadata({ segment: row.path, files, fromUs, toUs, placement })
    },

    /** What lies in this time, in whole files; what is being written stays. */
    remove(source: number, fromUs: number, toUs: number): { files: number; bytes: number } {
      const rows = index.findSegments(source, fromUs, toUs).filter(({ open }) => open === 0)
      rows.forEach(discard)
      return { files: rows.length, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
    },
    shut: (): void => index.close(),
  }
}

const metadataFile = (file: string) => file.replace(/mp4$/, 'jsonl')

/** A damaged index is begun anew: the files know it all. */
function openOrBegin(path: string): RecordingIndex {
  try {
    return openRecordingIndex(path)
  } catch {
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true, recursive: true })
    return openRecordingIndex(path)
  }
}

function roomOf(folder: string): { free: number; size: number } {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

/** What a crash has left open, and files that the index does not know. Forgets those that are not there any more. */
function unknownFiles(folder: string, index: RecordingIndex): string[] {
  const known = index.listFiles()
  const there = new Set(
    readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory() && /^\d+$/.test(entry.name))
      .flatMap(({ name }) => readdirSync(join(folder, name)).map(file => `${name}/${file}`))
      .filter(file => file.endsWith('.mp4')),
  )
  for (const { id, file, open } of known.values()) if (open === 1 || !there.has(file)) index.remove(id)
  return [...there].filter(file => known.get(file)?.open !== 0).sort()
}

/** Takes a file into the index as far as it is whole. One that holds no picture goes. */
function adopt(folder: string, file: string, index: RecordingIndex): void {
  const path = join(folder, file)
  const content = readSegment(path)
  const first = content?.fragments[0]
  const last = content?.fragments.at(-1)
  if (!content || !first || !last) {
    rmSync(path, { force: true })
    return
  }
  if (statSync(path).size > content.bytes) truncateSync(path, content.bytes)
  const metadata = join(folder, metadataFile(file))
  const bytes = content.bytes + (existsSync(metadata) ? statSync(metadata).size : 0)
  const { source, epoch, codecs, width, height } = content.info
  const [begin, end] = [last.samples[0]!, last.samples.at(-1)!]
  const endUs = last.timeUs + Math.round(((end.dts + end.duration - begin.dts) * 100) / 9)
  const row = { source, file, epoch, codecs, width, height, beginUs: first.timeUs, endUs, bytes, open: 0 }
  const id = index.insert(row)
  const noted = existsSync(metadata) ? parseEvents(readFileSync(metadata, 'utf8')) : []
  for (const event of noted) index.addEvent(id, event)
}

/** Named by its time; the clock may have been set back to one that was. */
function freeName(folder: string, source: number, beginUs: number): string {
  const time = new Date(beginUs / 1000).toISOString().replaceAll(':', '-')
  for (let n = 1; ; n++) {
    const file = `${source}/${time}${n > 1 ? `-${n}` : ''}.mp4`
    if (!existsSync(join(folder, file))) return file
  }
}

function rangesOf(rows: readonly SegmentRow[]): RecordedRange[] {
  const ranges: (RecordedRange & { endUs: number })[] = []
  for (const { beginUs, endUs, bytes, codecs, width, height } of rows) {
    const last = ranges.at(-1)
    const to = toIsoTime(endUs)
    const same = last?.codecs === codecs && last.width === width && last.height === height
    if (last && same && Math.abs(beginUs - last.endUs) < HOLE_US)
      Object.assign(last, { to, endUs, bytes: last.bytes + bytes })
    else ranges.push({ from: toIsoTime(beginUs), to, bytes, codecs, width, height, endUs })
  }
  return ranges.map(({ endUs: _, ...range }) => range)
}

export const toIsoTime = (us: number) => new Date(us / 1000).toISOString()
