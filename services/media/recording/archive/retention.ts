import { statfsSync } from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { formatBytes } from '@eyrie/contract/format-bytes'
import type { createFileQueries, StoredFile } from './damaged-files.ts'
import type { RecordingIndex } from './recording-index.ts'

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

export interface RetentionOptions {
  index: Pick<RecordingIndex, 'listPolicies'>
  files: ReturnType<typeof createFileQueries>
  reserve: DiskReserve
  /** Returns the disk's free space and size in bytes. */
  measureDisk(): { free: number; size: number }
  /** Deletes a file from the disk and from the index. */
  deleteFile(file: StoredFile): void
}

const US_PER_SECOND = 1_000_000
/**
 * Time for which files are deleted before other calls of the archive are handled. After
 * retention was shortened, there may be tens of thousands, and all recorders wait for the archive.
 */
const MAX_BATCH_MS = 100

/**
 * Applies the retention policies of the sources, then deletes the oldest files of all sources
 * until the reserve is free.
 */
export async function applyRetention(options: RetentionOptions, nowUs: number): Promise<DiskSpace> {
  await applyPolicies(options, nowUs)
  return freeReserve(options)
}

/** Deletes files, in batches. */
export async function deleteAll(
  files: readonly StoredFile[],
  deleteFile: (file: StoredFile) => void,
): Promise<void> {
  const endBatch = createBatches()
  for (const file of files) {
    deleteFile(file)
    await endBatch()
  }
}

async function applyPolicies({ index, files, deleteFile }: RetentionOptions, nowUs: number) {
  for (const { source, keep_s: keepS, keep_bytes: keepBytes } of index.listPolicies()) {
    if (keepS !== undefined) {
      const expired = files.findEndedBefore(source, nowUs - keepS * US_PER_SECOND)
      await deleteAll(expired, deleteFile)
    }

    if (keepBytes !== undefined) {
      const excessBytes = files.sumBytes(source) - keepBytes
      await deleteOldest(excessBytes, () => files.findOldest(source), deleteFile)
    }
  }
}

async function freeReserve(options: RetentionOptions): Promise<DiskSpace> {
  const { files, deleteFile } = options
  const { freeBytes, reserveBytes } = measureDiskSpace(options)
  const missingBytes = reserveBytes - freeBytes
  const deletedBytes = await deleteOldest(missingBytes, () => files.findOldest(), deleteFile)
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
 * Deletes files, oldest first, until their sizes add up to `bytes` or none is left. Returns the
 * number of bytes deleted.
 */
async function deleteOldest(
  bytes: number,
  findOldest: () => StoredFile | undefined,
  deleteFile: (file: StoredFile) => void,
): Promise<number> {
  const endBatch = createBatches()
  let deletedBytes = 0
  while (deletedBytes < bytes) {
    const oldest = findOldest()
    if (!oldest) break
    deleteFile(oldest)
    deletedBytes += oldest.bytes
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
