import { type Remote, startThread } from '../../runtime/worker-thread.ts'
import type { Archive } from './recording-archive.ts'
import type { DiskReserve } from './retention.ts'

/**
 * The archive of recordings, which runs in its own thread, as the main thread calls it: every
 * method returns a promise.
 */
export type RemoteArchive = Remote<Archive>

/** Opens the archive in its own thread. `close` also ends the thread. */
export function openArchive(options: { folder: string; reserve: DiskReserve }) {
  const { remote, end } = startThread<Archive>(
    new URL('./archive-worker.ts', import.meta.url),
    options,
  )
  return {
    archive: remote,
    async close() {
      // The thread may have failed already.
      await remote.shutDown().catch(() => {})
      end()
    },
  }
}
