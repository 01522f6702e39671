import type { JobName } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import { sleep } from '@eyrie/kit'
import type { JobRun } from '../management-client/management-client.ts'

/** Starts a run, or waits further for its result. */
export type RequestRun = (name: JobName, run: JobRun) => Promise<Job>

const RETRY_MS = 2_000

/**
 * Runs a job in management, and waits for the result until the signal of the run is aborted. If the
 * connection is lost, the request is repeated with the same id, so that the job runs only once.
 * Throws the last error if no result has arrived.
 */
export async function runJob(request: RequestRun, name: JobName, run: JobRun): Promise<void> {
  const { runId, signal } = run
  let problem = new Error('management has not reported a result in time')
  while (!signal.aborted) {
    try {
      const job = await request(name, run)
      // Another run that is in progress does the same work.
      if (job.run_id !== runId || job.finished_at !== null) return
    } catch (error) {
      problem = error as Error
      await sleep(RETRY_MS, signal)
    }
  }
  throw problem
}
