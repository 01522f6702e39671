import { z } from 'zod'
import { jobName } from '../jobs.ts'
import { route } from './management-route.ts'
import { recordId, timestamp } from './record-fields.ts'

/**
 * Jobs in the management API: maintenance of the appliance, such as backups. The settings file says
 * when each job runs.
 */

export const jobState = z.enum(['running', 'succeeded', 'failed', 'skipped']).meta({
  description:
    'skipped: there was nothing to do, for example because no target of backups is configured',
})
export type JobState = z.infer<typeof jobState>

export const job = z
  .object({
    job_name: jobName,
    job_description: z.string(),
    run_id: recordId
      .nullable()
      .meta({ description: 'The last run, or the current one; null before the first' }),
    job_state: jobState
      .nullable()
      .meta({ description: 'Result of this run; null before the first' }),
    job_message: z.string().meta({ description: 'What the run has done, or why it failed' }),
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    succeeded_at: timestamp.nullable().meta({ description: 'End of the last run that succeeded' }),
    next_run_at: timestamp
      .nullable()
      .meta({ description: 'Null if the job is off, or the scheduler has not started yet' }),
    is_requested: z
      .boolean()
      .meta({ description: 'Whether a run was requested that has not started yet' }),
  })
  .meta({ id: 'Job' })
export type Job = z.infer<typeof job>

export const jobRoutes = {
  list: route({
    method: 'get',
    path: '/job/list',
    summary: 'List the jobs that maintain the appliance',
    access: 'own',
    status: 200,
    response: z.array(job),
  }),

  run: route({
    method: 'post',
    path: '/job/run',
    summary: 'Run a job now',
    description:
      'Starts within seconds, after a run that is in progress. The operation /job/list shows the result of the returned run.',
    access: 'own',
    body: z.strictObject({ job_name: jobName }),
    status: 200,
    response: z.object({ run_id: recordId }),
  }),
}
