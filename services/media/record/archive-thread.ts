import { workerData } from 'node:worker_threads'
import { answerFromThread } from '../thread.ts'
import { createArchive } from './archive.ts'

/** The archive in its thread. */
answerFromThread(createArchive(workerData))
