import { workerData } from 'node:worker_threads'
import { serveThread } from '../../runtime/worker-thread.ts'
import { createArchive } from './recording-archive.ts'

/** The archive in its thread. */
serveThread(createArchive(workerData))
