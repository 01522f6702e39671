import { z } from 'zod'
import { jobName } from '../jobs.ts'
import { job } from './job.ts'

/**
 * The internal API by which the scheduler starts jobs. Management does their work and stores the
 * results; the scheduler knows when they are due.
 */

/** Stores when each job is due, and answers with the last run of each. */
export const jobPlan = {
  path: '/scheduler/jobs/plan',
  body: z.strictObject({
    jobs: z.array(z.strictObject({ job_name: jobName, next_run_at: z.iso.datetime().nullable() })),
  }),
  response: z.strictObject({ jobs: z.array(job) }),
}
export type PlannedJob = z.infer<typeof jobPlan.body>['jobs'][number]

/**
 * Runs a job, and answers when the run has finished or after some seconds. Repeating the request
 * with the same `run_id` waits further, or returns the result. While another run is in progress,
 * the answer has the `run_id` of that run.
 */
export const jobRun = {
  path: (name: string): string => `/scheduler/jobs/${name}/run`,
  body: z.strictObject({ run_id: z.uuid(), limit_s: z.number().positive() }),
  response: job,
}
