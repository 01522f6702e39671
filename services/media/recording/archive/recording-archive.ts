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
import { getDuration, type TimelinePosition } from '../format/playback-timeline.ts'
import { readSegment, type SegmentContent, type SegmentInfo } from '../format/segment-format.ts'
import {
  openRecordingIndex,
  type RecordingIndex,
  type RetentionPolicy,
  type SegmentRow,
} from './recording-index.ts'
import { readSegmentMetadata } from './segment-metadata.ts'

/** Space that must remain free: the larger of both values. */
export interface DiskReserve {
  bytes: number
  /** Of the disk's size. */
  percent: number
}

export interface ArchiveOptions {
  folder: string
  reserve: DiskReserve
  /** Returns the disk's free bytes and size; by default from the file system. */
  measureDisk?(): { free: number; size: number }
}

/** State of the disk after `tidy`. */
export interface DiskSpace {
  freeBytes: number
  reserveBytes: number
  /** The reserve is not free and there is nothing left to delete. */
  full: boolean
}

/** API times have ms precision: a query from the beginning of a range must not include the segment before it. */
const ROUNDING_US = 1000
/** Events in one response. */
const MAX_EVENTS = 10_000

/** A shorter gap does not interrupt a range. */
const GAP_US = 2_000_000

/**
 * The recordings on disk with their index and retention. All methods are synchronous: the archive runs in its own thread, where a
 * slow disk does not delay packets.
 */
export type Archive = ReturnType<typeof createArchive>

export function createArchive({
  folder,
  reserve,
  measureDisk = () => measureFileSystem(folder),
}: ArchiveOptions) {
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  const index = openOrRecreate(join(folder, 'index.db'))
  /** End and size of open segments, which the index stores when they are closed. */
  const growing = new Map<number, Pick<SegmentRow, 'endUs' | 'bytes'>>()
  const unindexed = findUnindexedFiles(folder, index)
  let rebuilding = unindexed.length > 0

  const toPath = (file: string) => join(folder, file)
  const withGrowth = (row: SegmentRow): SegmentRow => ({ ...row, ...growing.get(row.id) })

  function deleteSegment({ id, file }: Pick<SegmentRow, 'id' | 'file'>) {
    rmSync(toPath(file), { force: true })
    rmSync(toPath(toMetadataFile(file)), { force: true })
    index.remove(id)
  }

  function applyPolicies(nowUs: number) {
    for (const { source, keep_s, keep_bytes } of index.listPolicies()) {
      if (keep_s !== undefined) index.findEndedBefore(source, nowUs - keep_s * 1e6).forEach(deleteSegment)
      if (keep_bytes === undefined) continue
      let bytes = index.sumBytes(source)
      for (let row = index.findOldest(source); row && bytes > keep_bytes; row = index.findOldest(source)) {
        bytes -= row.bytes
        deleteSegment(row)
      }
    }
  }

  return {
    /** Indexes the files that a crash or a damaged index has left unindexed. Resolves to their number. */
    async rebuild(): Promise<number> {
      for (const file of unindexed) {
        indexFile(folder, file, index)
        await turn()
      }
      rebuilding = false
      return unindexed.length
    },
    rebuilding: () => rebuilding,

    begin(info: SegmentInfo, beginUs: number): { id: number; path: string } {
      mkdirSync(toPath(String(info.source)), { recursive: true, mode: 0o750 })
      const file = createFileName(folder, info.source, beginUs)
      const { source, epoch, codecs, width, height } = info
      const row = { source, file, epoch, codecs, width, height, beginUs, endUs: beginUs, bytes: 0, open: 1 }
      return { id: index.insert(row), path: toPath(file) }
    },
    grow(id: number, endUs: number, bytes: number, events: readonly IndexedEvent[] = []): void {
      growing.set(id, { endUs, bytes })
      for (const event of events) index.addEvent(id, event)
    },
    /** Also deletes a segment without bytes. */
    close(id: number, file: string, endUs: number, bytes: number): void {
      growing.delete(id)
      if (bytes > 0) index.update(id, { endUs, bytes, open: 0 })
      else deleteSegment({ id, file: file.slice(folder.length + 1) })
    },

    keep: (source: number, policy: RetentionPolicy): void => index.setPolicy(source, policy),

    /** Deletes what exceeds the retention policies, then the oldest segments until the reserve is free. */
    tidy(nowUs: number): DiskSpace {
      applyPolicies(nowUs)
      const { free, size } = measureDisk()
      const reserveBytes = Math.max(reserve.bytes, Math.round((size * reserve.percent) / 100))
      let freeBytes = free
      for (let row = index.findOldest(); row && freeBytes < reserveBytes; row = index.findOldest()) {
        deleteSegment(row)
        freeBytes += row.bytes
      }
      return { freeBytes, reserveBytes, full: freeBytes < reserveBytes }
    },

    sources: index.listSources,
    segments: (source: number, fromUs: number, toUs: number): (SegmentRow & { path: string })[] =>
      index
        .findSegments(source, fromUs, toUs)
        .map(row => ({ ...withGrowth(row), path: toPath(row.file) }))
        .filter(({ bytes, endUs }) => bytes > 0 && endUs - fromUs >= ROUNDING_US),
    /** Capture times of the first and last picture; undefined if nothing is recorded. */
    extent(source: number): { first: string; last: string } | undefined {
      const [first, last] = index.findFirstAndLast(source)?.map(withGrowth) ?? []
      return first && last && { first: toIsoTime(first.beginUs), last: toIsoTime(last.endUs) }
    },
    /** Returns the path of a segment by file name; undefined if the index does not have it. */
    findPath(source: number, name: string): string | undefined {
      const file = `${source}/${name}`
      return index.hasFile(source, file) ? toPath(file) : undefined
    },
    ranges: (source: number, fromUs: number, toUs: number): RecordedRange[] =>
      toRanges(
        index
          .findSegments(source, fromUs, toUs)
          .map(withGrowth)
          .filter(({ bytes }) => bytes > 0),
      ),

    events(source: number, fromUs: number, toUs: number): RecordedEventList {
      const rows = index.findEvents(source, fromUs, toUs, MAX_EVENTS + 1)
      const events = rows.slice(0, MAX_EVENTS).map(({ timeUs, data, ...event }) => ({
        ...event,
        time: toIsoTime(timeUs),
        data: JSON.parse(data),
      }))
      return { events, more: rows.length > MAX_EVENTS }
    },

    /** Undefined if the file has been deleted meanwhile. */
    read(file: string): SegmentContent | undefined {
      return existsSync(file) ? readSegment(file) : undefined
    },
    clip(source: number, fromUs: number, toUs: number) {
      return createClip(this.segments(source, fromUs, toUs), fromUs, toUs)
    },
    metadata(row: SegmentRow & { path: string }, fromUs: number, toUs: number, position: TimelinePosition) {
      const next = index.findNextSegment(row.source, row.beginUs)
      const files = [row.file, ...(next ? [next.file] : [])].map(file => toPath(toMetadataFile(file)))
      return readSegmentMetadata({ segment: row.path, files, fromUs, toUs, position })
    },

    /** Deletes the closed segments that overlap this time. */
    remove(source: number, fromUs: number, toUs: number): { files: number; bytes: number } {
      const rows = index.findSegments(source, fromUs, toUs).filter(({ open }) => open === 0)
      rows.forEach(deleteSegment)
      return { files: rows.length, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
    },
    shut: (): void => index.close(),
  }
}

const toMetadataFile = (file: string) => file.replace(/mp4$/, 'jsonl')

/** Replaces a damaged index, which is then rebuilt from the files. */
function openOrRecreate(path: string): RecordingIndex {
  try {
    return openRecordingIndex(path)
  } catch {
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true, recursive: true })
    return openRecordingIndex(path)
  }
}

function measureFileSystem(folder: string): { free: number; size: number } {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

/** Finds segments that a crash has left open and files missing in the index. Removes index rows whose file is missing. */
function findUnindexedFiles(folder: string, index: RecordingIndex): string[] {
  const indexed = index.listFiles()
  const existing = new Set(
    readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory() && /^\d+$/.test(entry.name))
      .flatMap(({ name }) => readdirSync(join(folder, name)).map(file => `${name}/${file}`))
      .filter(file => file.endsWith('.mp4')),
  )
  for (const { id, file, open } of indexed.values()) {
    if (open === 1 || !existing.has(file)) index.remove(id)
  }
  return [...existing].filter(file => indexed.get(file)?.open !== 0).sort()
}

/** Truncates a file after its last complete fragment and indexes it. Deletes a file without pictures. */
function indexFile(folder: string, file: string, index: RecordingIndex): void {
  const path = join(folder, file)
  const content = readSegment(path)
  const first = content?.fragments[0]
  const last = content?.fragments.at(-1)
  if (!content || !first || !last) {
    rmSync(path, { force: true })
    return
  }
  if (statSync(path).size > content.bytes) truncateSync(path, content.bytes)
  const metadata = join(folder, toMetadataFile(file))
  const bytes = content.bytes + (existsSync(metadata) ? statSync(metadata).size : 0)
  const { source, epoch, codecs, width, height } = content.info
  const endUs = last.timeUs + Math.round((getDuration(last) * 100) / 9)
  const row = { source, file, epoch, codecs, width, height, beginUs: first.timeUs, endUs, bytes, open: 0 }
  const id = index.insert(row)
  const events = existsSync(metadata) ? parseEvents(readFileSync(metadata, 'utf8')) : []
  for (const event of events) index.addEvent(id, event)
}

/** Names a file by its time, with a number if the clock was set back to a time already used. */
function createFileName(folder: string, source: number, beginUs: number): string {
  const time = new Date(beginUs / 1000).toISOString().replaceAll(':', '-')
  for (let n = 1; ; n++) {
    const file = `${source}/${time}${n > 1 ? `-${n}` : ''}.mp4`
    if (!existsSync(join(folder, file))) return file
  }
}

function toRanges(rows: readonly SegmentRow[]): RecordedRange[] {
  const ranges: (RecordedRange & { endUs: number })[] = []
  for (const { beginUs, endUs, bytes, codecs, width, height } of rows) {
    const last = ranges.at(-1)
    const to = toIsoTime(endUs)
    const isSameFormat = last?.codecs === codecs && last.width === width && last.height === height
    if (last && isSameFormat && Math.abs(beginUs - last.endUs) < GAP_US)
      Object.assign(last, { to, endUs, bytes: last.bytes + bytes })
    else ranges.push({ from: toIsoTime(beginUs), to, bytes, codecs, width, height, endUs })
  }
  return ranges.map(({ endUs: _, ...range }) => range)
}

export const toIsoTime = (us: number) => new Date(us / 1000).toISOString()
