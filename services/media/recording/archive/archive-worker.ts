import { workerData } from 'node:worker_threads'
import { serveThread } from '../../runtime/worker-thread.ts'
import { createArchive } from './recording-archive.ts'

// Entry point of the archive's worker thread: serves the calls that the main thread makes
// through `openArchive`.
serveThread(createArchive(workerData))
