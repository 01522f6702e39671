import { workerData } from 'node:worker_threads'
import { answerFromThread } from '../../runtime/worker-thread.ts'
import { createArchive } from './archive.ts'

/** The archive in its thread. */
answerFromThread(createArchive(workerData))
