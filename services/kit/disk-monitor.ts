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
  measure(): Promise<DiskSpace | undefined>
  stop(): void
}

export interface DiskSpace {
  freeBytes: number
  totalBytes: number
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
    const status = await readStatus(folder)
    const shortage = describeShortage(status, minFreeBytes)
    const fields = { folder, free_bytes: status.freeBytes }
    if (shortage && !alarm) log.error(fields, 'too little free disk space')
    if (!shortage && alarm) log.info(fields, 'enough free disk space again')
    alarm =
      shortage &&
      `${shortage} on the disk of ${folder}: delete files that are not needed, or enlarge the disk`
  }

  async function checkPeriodically(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Not a warning: a disk that cannot be measured causes errors elsewhere.
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
export const measureDisk = (folder: string): Promise<DiskSpace | undefined> =>
  readStatus(folder).catch(() => undefined)

interface DiskStatus extends DiskSpace {
  /** Whether files can be created. Some file systems limit their number (inodes). */
  hasFreeFiles: boolean
}

async function readStatus(folder: string): Promise<DiskStatus> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder)
  return {
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    // File systems without a limit report 0 of 0 files.
    hasFreeFiles: files === 0 || ffree > 0,
  }
}

/**
 * Returns the first part of an alarm: what cannot be done, and what is running out. Undefined if
 * there is enough space.
 */
function describeShortage(
  { freeBytes, hasFreeFiles }: DiskStatus,
  minFreeBytes: number,
): string | undefined {
  if (!hasFreeFiles) {
    return 'nothing can be stored, because no more files can be created (all inodes are in use)'
  }
  if (freeBytes >= minFreeBytes) return undefined
  if (freeBytes < BYTES_PER_MIB) return 'nothing can be stored, because there is no space left'
  return `soon nothing can be stored, because only ${formatBytes(freeBytes)} are left`
}
