import { type Remote, startThread } from '../../runtime/worker-thread.ts'
import type { Archive, DiskReserve } from './recording-archive.ts'

/** The archive as called from another thread. */
export type RemoteArchive = Remote<Archive>

/** Opens the archive in its own thread. */
export function openArchive(options: { folder: string; reserve: DiskReserve }) {
  const { remote, end } = startThread<Archive>(new URL('./archive-worker.ts', import.meta.url), options)
  return {
    archive: remote,
    async close() {
      await remote.shut().catch(() => {})
      end()
    },
  }
}
