import { existsSync, mkdirSync, unlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { toIsoTime } from '../../runtime/clock.ts'
import { type IndexedEvent, toMetadataPath } from '../format/metadata-lines.ts'
import type { SegmentInfo } from '../format/segment-format.ts'
import { createArchiveQueries } from './archive-queries.ts'
import { createFileQueries, describeDamagedFile, type StoredFile } from './damaged-files.ts'
import {
  findUnindexedFiles,
  indexFile,
  makeRoomForIndex,
  openOrRecreateIndex,
} from './index-recovery.ts'
import { isDiskFullError, type RetentionPolicy, type SegmentRow } from './recording-index.ts'
import {
  applyRetention,
  type DiskReserve,
  type DiskSpace,
  deleteAll,
  measureDiskSpace,
  measureFileSystem,
  type RetentionResult,
} from './retention.ts'
import { createDeletionFailures, type UndeletableFiles } from './undeletable-files.ts'

export interface ArchiveOptions {
  folder: string
  reserve: DiskReserve
  /** Returns the disk's free space and size in bytes. Default: from the file system. */
  measureDisk?(): { free: number; size: number }
  /** Returns a monotonic time in ms. Default: that of the process. */
  now?(): number
}

/** How far a segment has been written. The end is in µs since 1970. */
type Growth = Pick<SegmentRow, 'endUs' | 'bytes'>

/** A file to delete. Without an id it is not indexed. */
type FileToDelete = Pick<StoredFile, 'id' | 'file'>

/** Number and size of the deleted files, and the files that could not be deleted. */
interface DeletionResult {
  files: number
  bytes: number
  undeletable: UndeletableFiles | undefined
}

/** A file that could not be indexed. */
export interface IndexFailure {
  file: string
  error: Error
}

/** A segment to which nothing more is written. */
export interface ClosedSegment extends Growth {
  id: number
  /** Absolute path of the file. */
  path: string
}

/**
 * Manages the recordings on disk. A recording consists of segments, which are MP4 files of a
 * few minutes each; an SQLite index lists them, and retention policies limit their age and
 * size. Methods block, because the archive runs in its own thread, where a slow disk does not
 * delay packets. Long methods let other calls through in between.
 */
export type Archive = ReturnType<typeof createArchive>

export function createArchive({
  folder,
  reserve,
  measureDisk = () => measureFileSystem(folder),
  now = () => performance.now(),
}: ArchiveOptions) {
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  makeRoomForIndex(folder)
  const index = openOrRecreateIndex(join(folder, 'index.db'))
  /** Growth of the open segments. The index stores it when a segment is closed. */
  const growing = new Map<number, Growth>()
  /** Segments that could not be marked as complete because the disk was full. */
  const unmarkedSegments = new Set<ClosedSegment>()
  const unindexedFiles = findUnindexedFiles(folder, index)
  /** Files that could not be indexed, by their path relative to the folder. */
  const damagedFiles = new Map<string, StoredFile>()
  const files = createFileQueries(index, damagedFiles)
  const deletionFailures = createDeletionFailures(now)
  let isRebuilding = unindexedFiles.length > 0

  const withGrowth = (row: SegmentRow): SegmentRow => ({ ...row, ...growing.get(row.id) })

  function closeSegment(segment: ClosedSegment) {
    const { id, path, endUs, bytes } = segment
    try {
      if (bytes > 0) index.update(id, { endUs, bytes, open: 0 })
      else deleteFile({ id, file: relative(folder, path) })
    } catch (error) {
      if (!isDiskFullError(error)) throw error
      unmarkedSegments.add(segment)
      return
    }
    growing.delete(id)
    unmarkedSegments.delete(segment)
  }

  function deleteFile(file: FileToDelete) {
    removeFromDisk(file)
    removeFromIndex(file)
  }

  /** Returns false if the file did not exist. */
  function removeFromDisk({ file }: FileToDelete): boolean {
    const path = join(folder, file)
    // If this is interrupted, the file of the segment is found again, but metadata alone is not.
    unlinkIfExists(toMetadataPath(path))
    const existed = unlinkIfExists(path)
    deletionFailures.remove(file)
    return existed
  }

  function removeFromIndex({ id, file }: FileToDelete) {
    if (id === undefined) damagedFiles.delete(file)
    else index.remove(id)
  }

  return {
    ...createArchiveQueries({ folder, index, withGrowth }),

    /**
     * Indexes the files that are missing in the index after a crash. Resolves to the number of
     * inspected files, and the failures among them.
     */
    async rebuildIndex(): Promise<{ files: number; failures: IndexFailure[] }> {
      const failures: IndexFailure[] = []
      for (const file of unindexedFiles) {
        try {
          indexFile(folder, file, index)
        } catch (error) {
          failures.push({ file, error: error as Error })
          damagedFiles.set(file, describeDamagedFile(folder, file))
        }
        // Other calls of the archive are handled between two files.
        await yieldToEventLoop()
      }
      isRebuilding = false
      return { files: unindexedFiles.length, failures }
    },
    isRebuilding: () => isRebuilding,

    /** Adds a segment to the index and returns the path at which to create it. */
    beginSegment(info: SegmentInfo, beginUs: number): { id: number; path: string } {
      const { source, epoch, codecs, width, height } = info
      mkdirSync(join(folder, String(source)), { recursive: true, mode: 0o750 })
      const file = createFileName(folder, source, beginUs)
      const id = index.insert({
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
      })
      return { id, path: join(folder, file) }
    },
    /** Records how far a segment has been written, and the events that were written with it. */
    growSegment(id: number, growth: Growth, events: readonly IndexedEvent[] = []): void {
      growing.set(id, growth)
      for (const event of events) index.addEvent(id, event)
    },
    /**
     * Marks a segment as complete, or deletes it if it is empty. On a full disk, the next run of
     * retention tries again: retention and deletion skip a segment that is not complete.
     */
    closeSegment,

    measureDisk: (): DiskSpace => measureDiskSpace({ reserve, measureDisk }),
    setPolicy: (source: number, policy: RetentionPolicy): void => index.setPolicy(source, policy),
    /**
     * Applies the retention policies, then deletes the oldest files until the reserve is free.
     */
    applyRetention(nowUs: number): Promise<RetentionResult> {
      for (const segment of [...unmarkedSegments]) closeSegment(segment)
      return applyRetention(
        {
          index,
          files,
          reserve,
          measureDisk,
          failures: deletionFailures,
          removeFromDisk,
          removeFromIndex,
        },
        nowUs,
      )
    },
    /**
     * Deletes the closed segments and the damaged files that overlap this time. Skips files that
     * cannot be deleted. Resolves to the number and size of the deleted files.
     */
    async deleteSegments(source: number, fromUs: number, toUs: number): Promise<DeletionResult> {
      const deleted = { files: 0, bytes: 0 }
      const errors: Error[] = []
      await deleteAll(files.findOverlapping(source, fromUs, toUs), file => {
        try {
          deleteFile(file)
          deleted.files++
          deleted.bytes += file.bytes
        } catch (error) {
          errors.push(error as Error)
        }
      })
      const [error] = errors
      return { ...deleted, undeletable: error && { files: errors.length, error } }
    },

    /** Closes the index. */
    shutDown: (): void => index.close(),
  }
}

/**
 * Returns a file name with the time. A number is appended if the name exists, because
 * the clock was set back.
 */
function createFileName(folder: string, source: number, beginUs: number): string {
  const time = toIsoTime(beginUs).replaceAll(':', '-')
  for (let attempt = 1; ; attempt++) {
    const suffix = attempt > 1 ? `-${attempt}` : ''
    const file = `${source}/${time}${suffix}.mp4`
    if (!existsSync(join(folder, file))) return file
  }
}

/**
 * Deletes a file. Returns false if it does not exist. Unlike `rmSync`, it reports a read-only disk
 * by its code.
 */
function unlinkIfExists(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  }
}
