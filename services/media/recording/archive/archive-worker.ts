import { setTimeout as wait } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../runtime/worker-thread.ts'
import { type Archive, createArchive } from './recording-archive.ts'
import { isDiskFullError, isLockedError } from './recording-index.ts'

// Entry point of the archive's worker thread: serves the calls that the main thread makes
// through `openArchive`.

/** Time between two attempts to open an index that is locked or on a full disk. */
const RETRY_MS = 1000

serveThread(await openArchive())

/**
 * Opens the archive. Waits while another process, such as a backup, has locked its index, and while
 * other files fill the disk.
 */
async function openArchive(): Promise<Archive> {
  for (;;) {
    try {
      return createArchive(workerData)
    } catch (error) {
      if (!isLockedError(error) && !isDiskFullError(error)) throw error
      await wait(RETRY_MS)
    }
  }
}
