import { setTimeout as wait } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../runtime/worker-thread.ts'
import { type Archive, createArchive } from './recording-archive.ts'
import { isLockedError } from './recording-index.ts'

// Entry point of the archive's worker thread: serves the calls that the main thread makes
// through `openArchive`.

/** Time between two attempts to open an index that another process has locked. */
const RETRY_MS = 1000

serveThread(await openUnlockedArchive())

/** Opens the archive. Waits while another process, such as a backup, has locked its index. */
async function openUnlockedArchive(): Promise<Archive> {
  for (;;) {
    try {
      return createArchive(workerData)
    } catch (error) {
      if (!isLockedError(error)) throw error
      await wait(RETRY_MS)
    }
  }
}
