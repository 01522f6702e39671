import { statfsSync } from 'node:fs'
import { formatBytes } from '@eyrie/contract/format-bytes'
import type { RecordingIndex, SegmentRow } from './recording-index.ts'

/** Disk space that must remain free: the larger of `bytes` and `percent`. */
export interface DiskReserve {
  bytes: number
  /** Percentage of the disk's size. */
  percent: number
}

/** Disk space after retention was applied. */
export interface DiskSpace {
  freeBytes: number
  reserveBytes: number
  /** Whether less than the reserve is free although all closed segments have been deleted. */
  full: boolean
}

export interface RetentionOptions {
  index: RecordingIndex
  reserve: DiskReserve
  /** Returns the disk's free space and size in bytes. */
  measureDisk(): { free: number; size: number }
  /** Deletes a segment from the disk and from the index. */
  deleteSegment(segment: SegmentRow): void
}

const US_PER_SECOND = 1_000_000

/**
 * Applies the retention policies of the sources, then deletes the oldest segments of all sources
 * until the reserve is free.
 */
export function applyRetention(options: RetentionOptions, nowUs: number): DiskSpace {
  applyPolicies(options, nowUs)
  return freeReserve(options)
}

function applyPolicies({ index, deleteSegment }: RetentionOptions, nowUs: number): void {
  for (const { source, keep_s: keepS, keep_bytes: keepBytes } of index.listPolicies()) {
    if (keepS !== undefined) {
      const expired = index.findEndedBefore(source, nowUs - keepS * US_PER_SECOND)
      expired.forEach(deleteSegment)
    }

    if (keepBytes !== undefined) {
      const excessBytes = index.sumBytes(source) - keepBytes
      deleteOldest(excessBytes, () => index.findOldest(source), deleteSegment)
    }
  }
}

function freeReserve({ index, reserve, measureDisk, deleteSegment }: RetentionOptions): DiskSpace {
  const { free, size } = measureDisk()
  const reserveBytes = Math.max(reserve.bytes, Math.round((size * reserve.percent) / 100))
  const missingBytes = reserveBytes - free
  const freeBytes = free + deleteOldest(missingBytes, () => index.findOldest(), deleteSegment)
  return { freeBytes, reserveBytes, full: freeBytes < reserveBytes }
}

/**
 * Deletes segments, oldest first, until their sizes add up to `bytes` or no closed segment is left.
 * Returns the number of bytes deleted.
 */
function deleteOldest(
  bytes: number,
  findOldest: () => SegmentRow | undefined,
  deleteSegment: (segment: SegmentRow) => void,
): number {
  let deletedBytes = 0
  while (deletedBytes < bytes) {
    const oldest = findOldest()
    if (!oldest) break
    deleteSegment(oldest)
    deletedBytes += oldest.bytes
  }
  return deletedBytes
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
