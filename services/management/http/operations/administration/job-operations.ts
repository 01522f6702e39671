import { jobRoutes } from '@eyrie/contract/management/index'
import { listJobs, requestRun } from '../../../jobs/job-store.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/** API operations on the jobs that maintain the appliance. */
export const jobOperations: Operation[] = [
  defineOperation(jobRoutes.list, async (_, tx) => ({ value: await listJobs(tx) })),

  defineOperation(jobRoutes.run, async ({ input }, tx) => ({
    value: { run_id: await requestRun(tx, input.job_name) },
  })),
]
