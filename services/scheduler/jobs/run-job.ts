import type { JobName } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import { sleep } from '@eyrie/kit'

/** Starts a run, or waits further for its result. */
export type RequestRun = (
  name: JobName,
  runId: string,
  limitS: number,
  signal: AbortSignal,
) => Promise<Job>

const RETRY_MS = 2_000

/**
 * Runs a job in management, and waits for the result until `signal` is aborted. If the connection
 * is lost, the request is repeated with the same `run_id`, so that the job runs only once. Throws
 * the last error if no result has arrived.
 */
export async function runJob(
  request: RequestRun,
  name: JobName,
  {
    run_id: runId,
    limit_s: limitS,
    signal,
  }: { run_id: string; limit_s: number; signal: AbortSignal },
): Promise<void> {
  let problem = new Error('management has not reported a result in time')
  while (!signal.aborted) {
    try {
      const job = await request(name, runId, limitS, signal)
      // Another run that is in progress does the same work.
      if (job.run_id !== runId || job.finished_at !== null) return
    } catch (error) {
      problem = error as Error
      await sleep(RETRY_MS, signal)
    }
  }
  throw problem
}
