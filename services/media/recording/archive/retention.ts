import { statfsSync } from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { formatBytes } from '@eyrie/contract/format-bytes'
import type { createFileQueries, StoredFile } from './damaged-files.ts'
import { isDiskFullError, type RecordingIndex } from './recording-index.ts'
import type { DeletionFailures, UndeletableFiles } from './undeletable-files.ts'

/** Disk space that must remain free: the larger of `bytes` and `percent`. */
export interface DiskReserve {
  bytes: number
  /** Percentage of the disk's size. */
  percent: number
}

/** Disk space, as it was measured or as it is after retention was applied. */
export interface DiskSpace {
  freeBytes: number
  reserveBytes: number
  /** Whether less than the reserve is free. */
  full: boolean
}

/** Disk space after retention was applied, and the files that it could not delete. */
export interface RetentionResult extends DiskSpace {
  undeletable: UndeletableFiles | undefined
}

export interface RetentionOptions {
  index: Pick<RecordingIndex, 'listPolicies'>
  files: ReturnType<typeof createFileQueries>
  reserve: DiskReserve
  /** Returns the disk's free space and size in bytes. */
  measureDisk(): { free: number; size: number }
  /** The files that this run or an earlier one could not delete. */
  failures: DeletionFailures
  /** Returns false if the file did not exist. Throws if it cannot be deleted. */
  removeFromDisk(file: StoredFile): boolean
  removeFromIndex(file: StoredFile): void
}

/** Deletes a file. */
type TryDelete = (file: StoredFile) => 'deleted' | 'missing' | 'failed'

const US_PER_SECOND = 1_000_000
/**
 * Time for which files are deleted before other calls of the archive are handled. After
 * retention was shortened, there may be tens of thousands, and all recorders wait for the archive.
 */
const MAX_BATCH_MS = 100

/**
 * Applies the retention policies of the sources, then deletes the oldest files of all sources
 * until the reserve is free. Deletes other files instead of one that cannot be deleted, which it
 * tries again later. Throws if no file can be deleted, because the disk is read-only.
 */
export async function applyRetention(
  options: RetentionOptions,
  nowUs: number,
): Promise<RetentionResult> {
  const { failures, removeFromDisk } = options
  const tryDelete: TryDelete = file => {
    if (failures.hasJustFailed(file.file)) return 'failed'
    let existed: boolean
    try {
      existed = removeFromDisk(file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EROFS') throw error
      failures.add(file.file, error as Error)
      return 'failed'
    }
    try {
      options.removeFromIndex(file)
    } catch (error) {
      // A failure of the index ends this run, because it would affect all files. But on a full
      // disk, more files must be deleted first, for example because this one is still being
      // played. The next run finds the file missing and removes it from the index.
      if (!isDiskFullError(error)) throw error
    }
    return existed ? 'deleted' : 'missing'
  }

  await applyPolicies(options, tryDelete, nowUs)
  const space = await freeReserve(options, tryDelete, nowUs)
  return { ...space, undeletable: failures.summarize() }
}

/** Deletes files, in batches. */
export async function deleteAll(
  files: readonly StoredFile[],
  deleteFile: (file: StoredFile) => unknown,
): Promise<void> {
  const endBatch = createBatches()
  for (const file of files) {
    deleteFile(file)
    await endBatch()
  }
}

async function applyPolicies(
  { index, files }: RetentionOptions,
  tryDelete: TryDelete,
  nowUs: number,
) {
  for (const { source, keep_s: keepS, keep_bytes: keepBytes } of index.listPolicies()) {
    if (keepS !== undefined) {
      const expired = files.findExpired(source, nowUs - keepS * US_PER_SECOND, nowUs)
      await deleteAll(expired, tryDelete)
    }

    if (keepBytes !== undefined) {
      const excessBytes = files.sumBytes(source) - keepBytes
      // A missing file counts, because its size is part of the sum.
      await deleteOldest(excessBytes, files.listOldestFirst(nowUs, source), file =>
        tryDelete(file) === 'failed' ? 0 : file.bytes,
      )
    }
  }
}

async function freeReserve(
  options: RetentionOptions,
  tryDelete: TryDelete,
  nowUs: number,
): Promise<DiskSpace> {
  const { freeBytes, reserveBytes } = measureDiskSpace(options)
  const missingBytes = reserveBytes - freeBytes
  const oldestFirst = options.files.listOldestFirst(nowUs)
  const deletedBytes = await deleteOldest(missingBytes, oldestFirst, file =>
    tryDelete(file) === 'deleted' ? file.bytes : 0,
  )
  return toDiskSpace(freeBytes + deletedBytes, reserveBytes)
}

/** Measures the disk without deleting anything. */
export function measureDiskSpace({
  reserve,
  measureDisk,
}: Pick<RetentionOptions, 'reserve' | 'measureDisk'>): DiskSpace {
  const { free, size } = measureDisk()
  const reserveBytes = Math.max(reserve.bytes, Math.round((size * reserve.percent) / 100))
  return toDiskSpace(free, reserveBytes)
}

const toDiskSpace = (freeBytes: number, reserveBytes: number): DiskSpace => ({
  freeBytes,
  reserveBytes,
  full: freeBytes < reserveBytes,
})

/**
 * Deletes files in this order, until `deleteFile`, which returns the number of bytes deleted, has
 * deleted `bytes` or no file is left. Returns the number of bytes deleted.
 */
async function deleteOldest(
  bytes: number,
  oldestFirst: Iterable<StoredFile>,
  deleteFile: (file: StoredFile) => number,
): Promise<number> {
  if (bytes <= 0) return 0

  const endBatch = createBatches()
  let deletedBytes = 0
  for (const file of oldestFirst) {
    deletedBytes += deleteFile(file)
    if (deletedBytes >= bytes) break
    await endBatch()
  }
  return deletedBytes
}

/** Returns a function that ends a batch of deletions, if it has taken `MAX_BATCH_MS`. */
function createBatches(): () => Promise<void> {
  let beganAt = performance.now()
  return async () => {
    if (performance.now() - beganAt < MAX_BATCH_MS) return
    await yieldToEventLoop()
    beganAt = performance.now()
  }
}

/** Returns the free space and the size of the disk of a folder, in bytes. */
export function measureFileSystem(folder: string): { free: number; size: number } {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

/** Describes why a full disk prevents recordings, and what to do. */
export const describeFullDisk = ({
  freeBytes,
  reserveBytes,
}: Pick<DiskSpace, 'freeBytes' | 'reserveBytes'>) =>
  `the disk has only ${formatBytes(freeBytes)} left of a reserve of ${formatBytes(reserveBytes)}: delete files that are not needed, or lower the reserve (media.recording in eyrie.json)`
