import { jobName } from '@eyrie/contract/jobs'
import { jobPlan, jobRun } from '@eyrie/contract/management/job-queue'
import { parseAs } from '@eyrie/contract/parse'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import type { JobRunner } from '../../jobs/job-runner.ts'
import { listJobs, storePlan } from '../../jobs/job-store.ts'

const MAX_BODY_BYTES = 64 << 10
/** How long a request waits for the result of a run. */
const WAIT_MS = 20_000

export interface JobRoutesOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  runner(): JobRunner
}

/**
 * Routes by which the scheduler starts jobs. They check no token: that is done where they are
 * mounted.
 */
export function createJobRoutes({ database, runner }: JobRoutesOptions): Hono {
  const app = new Hono()
  const limitBody = limitBodySize(MAX_BODY_BYTES)

  app.post(jobPlan.path, limitBody, async c => {
    const { jobs } = await parseJsonBody(c, jobPlan.body)
    const stored = await database().system('jobs', async tx => {
      await storePlan(tx, jobs)
      return listJobs(tx)
    })
    return c.json({ jobs: stored })
  })

  app.post(jobRun.path(':name'), limitBody, async c => {
    const name = parseAs(jobName, c.req.param('name'))
    const { run_id: runId, limit_s: limitS } = await parseJsonBody(c, jobRun.body)
    const run = { run_id: runId, limitMs: limitS * 1000, waitMs: WAIT_MS }
    return c.json(await runner().run(database(), name, run))
  })

  return app
}
