import { type Remote, startThread } from '../../runtime/worker-thread.ts'
import type { Archive, DiskReserve } from './recording-archive.ts'

/** The archive as it is asked from another thread. */
export type RemoteArchive = Remote<Archive>

/** Opens the archive in a thread of its own. */
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
