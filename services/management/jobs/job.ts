import type { JobName } from '@eyrie/contract/jobs'
import type { Log } from '@eyrie/kit'
import type { Database } from '../db/database.ts'

/** What a job may use. */
export interface JobContext {
  database: Database
  /**
   * Aborts at the time limit of the run, and when the service stops. A job checks it between its
   * steps.
   */
  signal: AbortSignal
  log: Log
}

/** A job that has nothing to do. The message of the error says why. */
export class JobSkippedError extends Error {
  override readonly name = 'JobSkippedError'
}

/**
 * The work of a job. It returns what it has done, as a short text for operators. It throws an
 * `Error` that says what is wrong and what to do, or `JobSkippedError`. Running it twice has the
 * effect of running it once.
 */
export type JobWork = (context: JobContext) => Promise<string>

/**
 * The work of every job. A new job needs its name and schedule in
 * `@eyrie/contract/jobs`, and its work here.
 */
export type JobWorks = Readonly<Record<JobName, JobWork>>
