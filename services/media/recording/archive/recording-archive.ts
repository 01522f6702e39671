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
import { join, relative } from 'node:path'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { RecordedEventList, RecordedRange } from '@eyrie/contract'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { ticksToUs } from '../../runtime/stream-time.ts'
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

/**
 * Times in the API are rounded to milliseconds. A query from the beginning of a range must not
 * include the segment before it.
 */
const ROUNDING_US = 1000
/**
 * The end of a segment is estimated from the duration of its last picture, and capture times are
 * corrected while a camera's clock is being measured. Both may extend a segment beyond the
 * beginning of the next one, by less than this.
 */
const MAX_OVERLAP_US = 1_000_000
/** Maximum number of events in a response. */
const MAX_EVENTS = 10_000
/** Segments with a shorter gap between them belong to one range. */
const GAP_US = 2_000_000
const US_PER_SECOND = 1_000_000

/** Disk space that must remain free: the larger of `bytes` and `percent`. */
export interface DiskReserve {
  bytes: number
  /** Percentage of the disk's size. */
  percent: number
}

export interface ArchiveOptions {
  folder: string
  reserve: DiskReserve
  /** Returns the disk's free space and size in bytes. Default: from the file system. */
  measureDisk?(): { free: number; size: number }
}

/** Disk space after retention was applied. */
export interface DiskSpace {
  freeBytes: number
  reserveBytes: number
  /** Whether less than the reserve is free although all closed segments have been deleted. */
  full: boolean
}

/** Describes why a full disk prevents recordings, and what to do. */
export const describeFullDisk = ({
  freeBytes,
  reserveBytes,
}: Pick<DiskSpace, 'freeBytes' | 'reserveBytes'>) =>
  `the disk has only ${formatBytes(freeBytes)} left of a reserve of ${formatBytes(reserveBytes)}: delete files that are not needed, or lower the reserve (media.recording in eyrie.json)`

/** A segment with the absolute path of its file. */
type LocatedSegment = SegmentRow & { path: string }

/**
 * Manages the recordings on disk. A recording consists of segments, which are MP4 files of a
 * few minutes each; an SQLite index lists them, and retention policies limit their age and
 * size. All methods are synchronous, because the archive runs in its own thread, where a slow
 * disk does not delay packets.
 */
export type Archive = ReturnType<typeof createArchive>

export function createArchive({
  folder,
  reserve,
  measureDisk = () => measureFileSystem(folder),
}: ArchiveOptions) {
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  const index = openOrRecreate(join(folder, 'index.db'))
  /** End and size of the open segments. The index stores these values when a segment is closed. */
  const growing = new Map<number, Pick<SegmentRow, 'endUs' | 'bytes'>>()
  const unindexedFiles = findUnindexedFiles(folder, index)
  let isRebuilding = unindexedFiles.length > 0

  const toPath = (file: string) => join(folder, file)
  const withGrowth = (row: SegmentRow): SegmentRow => ({ ...row, ...growing.get(row.id) })

  function deleteSegment({ id, file }: Pick<SegmentRow, 'id' | 'file'>) {
    rmSync(toPath(file), { force: true })
    rmSync(toPath(toMetadataFile(file)), { force: true })
    index.remove(id)
  }

  function applyPolicies(nowUs: number) {
    for (const { source, keep_s: keepS, keep_bytes: keepBytes } of index.listPolicies()) {
      if (keepS !== undefined) {
        const expired = index.findEndedBefore(source, nowUs - keepS * US_PER_SECOND)
        expired.forEach(deleteSegment)
      }
      if (keepBytes !== undefined) deleteUntilSmaller(source, keepBytes)
    }
  }

  function deleteUntilSmaller(source: number, maxBytes: number) {
    let bytes = index.sumBytes(source)
    while (bytes > maxBytes) {
      const oldest = index.findOldest(source)
      if (!oldest) return
      deleteSegment(oldest)
      bytes -= oldest.bytes
    }
  }

  /** Deletes the oldest segments of all sources until the reserve is free. */
  function freeReserve(): DiskSpace {
    const { free, size } = measureDisk()
    const reserveBytes = Math.max(reserve.bytes, Math.round((size * reserve.percent) / 100))
    let freeBytes = free
    while (freeBytes < reserveBytes) {
      const oldest = index.findOldest()
      if (!oldest) break
      deleteSegment(oldest)
      freeBytes += oldest.bytes
    }
    return { freeBytes, reserveBytes, full: freeBytes < reserveBytes }
  }

  /** Returns the segments that overlap this time, oldest first. */
  function findSegments(source: number, fromUs: number, toUs: number): LocatedSegment[] {
    const overlapping = index
      .findSegments(source, fromUs, toUs)
      .map(row => ({ ...withGrowth(row), path: toPath(row.file) }))
      .filter(({ bytes, endUs }) => bytes > 0 && endUs - fromUs >= ROUNDING_US)
    return omitSupersededFirst(overlapping, fromUs)
  }

  return {
    /**
     * Indexes the files that are missing in the index after a crash. Resolves to the number of
     * files.
     */
    async rebuildIndex(): Promise<number> {
      for (const file of unindexedFiles) {
        indexFile(folder, file, index)
        // Other calls of the archive are handled between two files.
        await yieldToEventLoop()
      }
      isRebuilding = false
      return unindexedFiles.length
    },
    isRebuilding: () => isRebuilding,

    /** Adds a segment to the index and returns the path at which to create it. */
    beginSegment(info: SegmentInfo, beginUs: number): { id: number; path: string } {
      mkdirSync(toPath(String(info.source)), { recursive: true, mode: 0o750 })
      const file = createFileName(folder, info.source, beginUs)
      const { source, epoch, codecs, width, height } = info
      const row = {
        source,
        file,
        epoch,
        codecs,
        width,
        height,
        beginUs,
        endUs: beginUs,
        bytes: 0,
        open: 1,
      }
      return { id: index.insert(row), path: toPath(file) }
    },
    /** Records that a segment has grown to this end and size. */
    growSegment(
      id: number,
      endUs: number,
      bytes: number,
      events: readonly IndexedEvent[] = [],
    ): void {
      growing.set(id, { endUs, bytes })
      for (const event of events) index.addEvent(id, event)
    },
    /** Marks a segment as complete, or deletes it if it is empty. `path` is the absolute path. */
    closeSegment(id: number, path: string, endUs: number, bytes: number): void {
      growing.delete(id)
      if (bytes > 0) index.update(id, { endUs, bytes, open: 0 })
      else deleteSegment({ id, file: relative(folder, path) })
    },

    setPolicy: (source: number, policy: RetentionPolicy): void => index.setPolicy(source, policy),
    /**
     * Applies the retention policies, then deletes the oldest segments until the reserve is free.
     */
    applyRetention(nowUs: number): DiskSpace {
      applyPolicies(nowUs)
      return freeReserve()
    },
    /** Deletes the closed segments that overlap this time. */
    deleteSegments(source: number, fromUs: number, toUs: number): { files: number; bytes: number } {
      const closed = index.findSegments(source, fromUs, toUs).filter(({ open }) => open === 0)
      closed.forEach(deleteSegment)
      return { files: closed.length, bytes: closed.reduce((sum, { bytes }) => sum + bytes, 0) }
    },

    listSources: index.listSources,
    findSegments,
    /**
     * Returns the capture times of the first and last picture; undefined if nothing is recorded.
     */
    findExtent(source: number): { first: string; last: string } | undefined {
      const rows = index.findFirstAndLast(source)
      if (!rows) return undefined
      const [first, last] = rows
      return { first: toIsoTime(first.beginUs), last: toIsoTime(withGrowth(last).endUs) }
    },
    /** Returns the path of a segment by its file name; undefined if no such segment is indexed. */
    findPath(source: number, name: string): string | undefined {
      const file = `${source}/${name}`
      return index.hasFile(source, file) ? toPath(file) : undefined
    },
    /** Returns the recorded time ranges that overlap this time. */
    listRanges(source: number, fromUs: number, toUs: number): RecordedRange[] {
      const rows = index.findSegments(source, fromUs, toUs).map(withGrowth)
      return toRanges(rows.filter(({ bytes }) => bytes > 0))
    },

    /** Returns the events of these channels; without `channels`, of all channels. */
    listEvents(
      source: number,
      fromUs: number,
      toUs: number,
      channels?: readonly number[],
    ): RecordedEventList {
      // One event more than the response may contain shows whether there are more.
      const rows = index.findEvents(source, { fromUs, toUs, channels, max: MAX_EVENTS + 1 })
      const events = rows.slice(0, MAX_EVENTS).map(({ timeUs, data, ...event }) => ({
        ...event,
        time: toIsoTime(timeUs),
        data: JSON.parse(data),
      }))
      return { events, more: rows.length > MAX_EVENTS }
    },

    /** Reads a segment by its path; undefined if the file has been deleted meanwhile. */
    readSegment: (path: string): SegmentContent | undefined =>
      existsSync(path) ? readSegment(path) : undefined,
    createClip: (source: number, fromUs: number, toUs: number) =>
      createClip(findSegments(source, fromUs, toUs), fromUs, toUs),
    /**
     * Returns the metadata of a segment as JSON lines: of these channels or, without `channels`, of
     * all channels. `position` is the playback position before the segment.
     */
    readMetadata(
      segment: LocatedSegment,
      fromUs: number,
      toUs: number,
      position: TimelinePosition,
      channels?: readonly number[],
    ) {
      const next = index.findNextSegment(segment.source, segment.beginUs)
      const files = next ? [segment.file, next.file] : [segment.file]
      const metadataFiles = files.map(file => toPath(toMetadataFile(file)))
      return readSegmentMetadata({
        segment: segment.path,
        metadataFiles,
        fromUs,
        toUs,
        position,
        channels,
      })
    },

    /** Closes the index. */
    shutDown: (): void => index.close(),
  }
}

/** Returns the name of the metadata file next to a segment file. */
const toMetadataFile = (file: string) => file.replace(/mp4$/, 'jsonl')

/**
 * Opens the index. Replaces a damaged index by an empty one, which is then rebuilt from the files.
 */
function openOrRecreate(path: string): RecordingIndex {
  try {
    return openRecordingIndex(path)
  } catch {
    for (const ending of ['', '-wal', '-shm']) {
      rmSync(path + ending, { force: true, recursive: true })
    }
    return openRecordingIndex(path)
  }
}

function measureFileSystem(folder: string): { free: number; size: number } {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

/**
 * Returns the files that are missing in the index or were open during a crash. Removes the index
 * rows of missing files.
 */
function findUnindexedFiles(folder: string, index: RecordingIndex): string[] {
  const indexed = index.listFiles()
  const existing = new Set(listSegmentFiles(folder))

  for (const { id, file, open } of indexed.values()) {
    if (open === 1 || !existing.has(file)) index.remove(id)
  }

  const isIndexedAndClosed = (file: string) => indexed.get(file)?.open === 0
  return [...existing].filter(file => !isIndexedAndClosed(file)).sort()
}

/**
 * Returns the segment files on disk, such as `7/2026-01-31T12-00-00.000Z.mp4`. Each source has a
 * folder named by its ID.
 */
function listSegmentFiles(folder: string): string[] {
  const files: string[] = []
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || !/^\d+$/.test(entry.name)) continue
    const names = readdirSync(join(folder, entry.name)).filter(name => name.endsWith('.mp4'))
    files.push(...names.map(name => `${entry.name}/${name}`))
  }
  return files
}

/**
 * Adds a file to the index, truncated after its last complete fragment. Deletes a
 * file without pictures.
 */
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

  const metadataPath = join(folder, toMetadataFile(file))
  const hasMetadata = existsSync(metadataPath)
  const bytes = content.bytes + (hasMetadata ? statSync(metadataPath).size : 0)
  const { source, epoch, codecs, width, height } = content.info
  const endUs = last.timeUs + Math.round(ticksToUs(getDuration(last)))
  const row = {
    source,
    file,
    epoch,
    codecs,
    width,
    height,
    beginUs: first.timeUs,
    endUs,
    bytes,
    open: 0,
  }
  const id = index.insert(row)

  const events = hasMetadata ? parseEvents(readFileSync(metadataPath, 'utf8')) : []
  for (const event of events) index.addEvent(id, event)
}

/**
 * Returns a file name with the time. A number is appended if the name exists, because
 * the clock was set back.
 */
function createFileName(folder: string, source: number, beginUs: number): string {
  const time = new Date(beginUs / 1000).toISOString().replaceAll(':', '-')
  for (let attempt = 1; ; attempt++) {
    const suffix = attempt > 1 ? `-${attempt}` : ''
    const file = `${source}/${time}${suffix}.mp4`
    if (!existsSync(join(folder, file))) return file
  }
}

/**
 * Omits the first segment if it only extends slightly into the second one, which has begun by
 * `fromUs`. A query from the beginning of a range must not return the segment before it,
 * whose format may differ.
 */
function omitSupersededFirst<Row extends SegmentRow>(rows: readonly Row[], fromUs: number): Row[] {
  const [first, second, ...others] = rows
  if (!first || !second) return [...rows]
  const hasSecondBegun = second.beginUs - fromUs < ROUNDING_US
  const overlapUs = first.endUs - second.beginUs
  return hasSecondBegun && overlapUs < MAX_OVERLAP_US ? [second, ...others] : [...rows]
}

/** Joins consecutive segments with the same format into ranges. */
function toRanges(rows: readonly SegmentRow[]): RecordedRange[] {
  const ranges: (RecordedRange & { endUs: number })[] = []
  for (const { beginUs, endUs, bytes, codecs, width, height } of rows) {
    const last = ranges.at(-1)
    const to = toIsoTime(endUs)
    const isSameFormat = last?.codecs === codecs && last.width === width && last.height === height

    if (last && isSameFormat && Math.abs(beginUs - last.endUs) < GAP_US) {
      last.to = to
      last.endUs = endUs
      last.bytes += bytes
    } else {
      ranges.push({ from: toIsoTime(beginUs), to, bytes, codecs, width, height, endUs })
    }
  }
  return ranges.map(({ endUs: _, ...range }) => range)
}

/** Converts µs since 1970 to an ISO 8601 time in UTC. */
export const toIsoTime = (us: number) => new Date(us / 1000).toISOString()
