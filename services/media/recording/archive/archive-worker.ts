import { workerData } from 'node:worker_threads'
import { serveThread } from '../../runtime/worker-thread.ts'
import { createArchive } from './recording-archive.ts'

/** Worker thread of the archive. */
serveThread(createArchive(workerData))
