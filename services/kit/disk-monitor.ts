import { statfs } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { formatBytes } from '@eyrie/contract/format-bytes'
import type { Log } from './log.ts'

/**
 * Watches the free space of a disk, so that a full one is reported before something has to be
 * stored.
 */
export interface DiskMonitor {
  /** Returns an alarm while the disk is full or almost full. */
  alarms(): string[]
  /** Resolves to the space of the disk now. Undefined if it cannot be measured. */
  measure(): ReturnType<typeof measureDisk>
  stop(): void
}

const BYTES_PER_MIB = 1 << 20
/** Databases and logs allocate files of 16 MiB. */
const DEFAULT_MIN_FREE_BYTES = 64 * BYTES_PER_MIB
const INTERVAL_MS = 2000

/** Starts to watch the disk of a folder, which must exist. */
export function monitorDisk(
  folder: string,
  log: Log,
  minFreeBytes = DEFAULT_MIN_FREE_BYTES,
): DiskMonitor {
  const stopping = new AbortController()
  let alarm: string | undefined

  async function check(): Promise<void> {
    const space = await readSpace(folder)
    const problem = describeShortage(space, minFreeBytes)
    const fields = { folder, free_bytes: space.freeBytes }
    if (problem && !alarm) log.error(fields, 'too little free disk space')
    if (!problem && alarm) log.info(fields, 'enough free disk space again')
    alarm =
      problem &&
      `${problem} on the disk of ${folder}: delete files that are not needed, or enlarge the disk`
  }

  async function checkPeriodically(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A disk that cannot be measured causes errors elsewhere.
      await check().catch(error => log.debug({ err: error, folder }, 'failed to measure disk'))
      // Rejects only when the monitor is stopped.
      await wait(INTERVAL_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  void checkPeriodically()
  return {
    alarms: () => (alarm === undefined ? [] : [alarm]),
    measure: () => measureDisk(folder),
    stop: () => stopping.abort(),
  }
}

/** Resolves to the space of the disk of a folder. Undefined if it cannot be measured. */
export const measureDisk = (
  folder: string,
): Promise<Pick<DiskSpace, 'freeBytes' | 'totalBytes'> | undefined> =>
  readSpace(folder).catch(() => undefined)

interface DiskSpace {
  freeBytes: number
  totalBytes: number
  /** Whether files can be created. Some file systems limit their number (inodes). */
  hasFreeFiles: boolean
}

async function readSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder)
  // File systems without a limit report 0 of 0 files.
  return {
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    hasFreeFiles: files === 0 || ffree > 0,
  }
}

/**
 * Returns the first part of an alarm: what is running out, and what follows from it. Undefined if
 * there is enough space.
 */
function describeShortage(
  { freeBytes, hasFreeFiles }: DiskSpace,
  minFreeBytes: number,
): string | undefined {
  if (!hasFreeFiles) {
    return 'nothing can be stored, because no more files can be created (all inodes are in use)'
  }
  if (freeBytes >= minFreeBytes) return undefined
  if (freeBytes < BYTES_PER_MIB) return 'nothing can be stored, because there is no space left'
  return `soon nothing can be stored, because only ${formatBytes(freeBytes)} are left`
}
