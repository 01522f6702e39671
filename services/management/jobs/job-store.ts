import { JOB_NAMES, JOBS, type JobName } from '@eyrie/contract/jobs'
import type { Job, JobState } from '@eyrie/contract/management/job'
import type { PlannedJob } from '@eyrie/contract/management/job-queue'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { v7 } from 'uuid'
import type { Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { job } from '../db/schema/index.ts'

// The table `job` contains when each job is due, the result of its last run, and a lease. The
// process that runs a job renews the lease. If the lease expires, the process has crashed, and the
// run was interrupted.

/** Duration of a lease. A crashed process delays the next run of its job by at most this time. */
export const LEASE_S = 30
const INTERRUPTED = 'was interrupted and starts again soon'

const newLeaseEnd = sql`now() + ${LEASE_S} * interval '1 second'`

export interface JobResult {
  state: Exclude<JobState, 'running'>
  message: string
}

/** Returns all jobs, in the order of `JOB_NAMES`. */
export async function listJobs(tx: Transaction): Promise<Job[]> {
  const rows = new Map((await tx.select().from(job)).map(row => [row.name, row]))
  return JOB_NAMES.map(name => toJob(name, rows.get(name)))
}

export async function readJob(tx: Transaction, name: JobName): Promise<Job> {
  const [row] = await tx.select().from(job).where(eq(job.name, name))
  return toJob(name, row)
}

type JobRow = typeof job.$inferSelect

/** The fields of a job that was neither planned nor requested yet, and so has no row. */
const NEW_JOB: Omit<Job, 'job_name' | 'job_description'> = {
  run_id: null,
  job_state: null,
  job_message: '',
  started_at: null,
  finished_at: null,
  duration_ms: null,
  succeeded_at: null,
  next_run_at: null,
  is_requested: false,
}

/** Describes a job for the API. */
function toJob(name: JobName, row: JobRow | undefined): Job {
  const job = { job_name: name, job_description: JOBS[name] }
  if (!row) return { ...job, ...NEW_JOB }

  const { started_at, finished_at } = row
  const result = isInterrupted(row)
    ? { job_state: 'failed' as const, job_message: INTERRUPTED }
    : // A constraint of the database admits only valid states.
      { job_state: row.state as JobState | null, job_message: row.message }
  return {
    ...job,
    ...result,
    run_id: row.run_id,
    started_at: formatTime(started_at),
    finished_at: formatTime(finished_at),
    duration_ms: started_at && finished_at && finished_at.getTime() - started_at.getTime(),
    succeeded_at: formatTime(row.succeeded_at),
    next_run_at: formatTime(row.next_run_at),
    is_requested: row.requested_run_id !== null,
  }
}

/** Returns whether the process that ran a job has crashed. */
const isInterrupted = ({ state, lease_until }: JobRow) =>
  state === 'running' && (lease_until === null || lease_until.getTime() <= Date.now())

const formatTime = (time: Date | null) => (time === null ? null : time.toISOString())

/** Stores when jobs are due. */
export async function storePlan(tx: Transaction, jobs: readonly PlannedJob[]): Promise<void> {
  for (const { job_name, next_run_at } of jobs) {
    const values = { next_run_at: next_run_at === null ? null : new Date(next_run_at) }
    await tx
      .insert(job)
      .values({ name: job_name, ...values })
      .onConflictDoUpdate({ target: job.name, set: values })
  }
}

/**
 * Requests a run, and returns its id. If a run is already requested, returns the id of that run.
 */
export async function requestRun(tx: Transaction, name: JobName): Promise<string> {
  const rows = await tx
    .insert(job)
    .values({ name, requested_run_id: v7() })
    .onConflictDoUpdate({
      target: job.name,
      set: { requested_run_id: sql`coalesce(${job.requested_run_id}, excluded.requested_run_id)` },
    })
    .returning({ run_id: sql<string>`${job.requested_run_id}` })
  return firstRow(rows).run_id
}

/** Returns the requested runs that have not started. */
export async function listRequestedRuns(
  tx: Transaction,
): Promise<{ name: JobName; run_id: string }[]> {
  const rows = await tx
    .select({ name: job.name, run_id: sql<string>`${job.requested_run_id}` })
    .from(job)
    .where(isNotNull(job.requested_run_id))
  return rows.map(({ name, run_id }) => ({ name: name as JobName, run_id }))
}

/**
 * Claims a run for this process. Returns false if a run of the job is in progress, or if this run
 * has finished already. An interrupted run can be claimed again when its lease has expired.
 */
export async function claimRun(tx: Transaction, name: JobName, runId: string): Promise<boolean> {
  await tx.insert(job).values({ name }).onConflictDoNothing()
  const claimed = await tx
    .update(job)
    .set({
      run_id: runId,
      requested_run_id: sql`nullif(${job.requested_run_id}, ${runId})`,
      started_at: sql`now()`,
      finished_at: null,
      lease_until: newLeaseEnd,
      state: 'running',
      message: '',
    })
    .where(
      and(
        eq(job.name, name),
        sql`(${job.lease_until} is null or ${job.lease_until} < now())`,
        sql`(${job.run_id} is distinct from ${runId} or ${job.finished_at} is null)`,
      ),
    )
    .returning({ name: job.name })
  return claimed.length > 0
}

/** Extends the lease of a run. */
export const renewLease = (tx: Transaction, name: JobName, runId: string): Promise<unknown> =>
  tx.update(job).set({ lease_until: newLeaseEnd }).where(runCondition(name, runId))

/** Ends the lease of a run, so that another run can be claimed at once. */
export const releaseRun = (tx: Transaction, name: JobName, runId: string): Promise<unknown> =>
  tx.update(job).set({ lease_until: null }).where(runCondition(name, runId))

/** Stores the result of a run. */
export const finishRun = (
  tx: Transaction,
  { name, run_id: runId }: { name: JobName; run_id: string },
  { state, message }: JobResult,
): Promise<unknown> =>
  tx
    .update(job)
    .set({
      state,
      // Postgres cannot store NUL characters.
      message: message.replaceAll('\0', ''),
      finished_at: sql`now()`,
      // A run that was skipped has not failed either.
      ...(state !== 'failed' && { succeeded_at: sql`now()` }),
    })
    .where(runCondition(name, runId))

/** Selects the job if this is its current run. */
const runCondition = (name: JobName, runId: string) =>
  and(eq(job.name, name), eq(job.run_id, runId))
