import { z } from 'zod'
import { jobName } from '../jobs.ts'
import { job } from './job.ts'

// Routes for an operator with a shell on the machine. They authenticate with the token in secrets/operator-token of the data folder.

/** `POST /operator/user/reset`: resets the password of an administrator. */
export const operatorPasswordReset = {
  path: '/operator/user/reset',
  body: z.strictObject({ email: z.string().max(254) }),
  response: z.object({ password: z.string() }),
}

/** `POST /operator/link`: creates a link that a browser on the machine can open once, to see the live views without an account. */
export const operatorLink = {
  path: '/operator/link',
  response: z.object({ key: z.string() }),
}
export type ConsoleLink = z.infer<typeof operatorLink.response>

/** `POST /operator/jobs`: lists the jobs that maintain the appliance. */
export const operatorJobs = {
  path: '/operator/jobs',
  response: z.object({ jobs: z.array(job) }),
}

/** `POST /operator/jobs/run`: requests a run of a job. */
export const operatorJobRun = {
  path: '/operator/jobs/run',
  body: z.strictObject({ job_name: jobName }),
  response: z.object({ run_id: z.uuid() }),
}

/** Returns the link that opens the console at this address with a key. */
export function toConsoleLink(consoleUrl: string, { key }: ConsoleLink): string {
  const link = new URL('/', consoleUrl)
  link.searchParams.set('key', key)
  return link.href
}
