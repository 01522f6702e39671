import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { JOB_NAMES, type JobName, type JobSettings } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import type { PlannedJob } from '@eyrie/contract/management/job-queue'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import type Bree from 'bree'
import { findNextRun } from './job-schedule.ts'
import { holdRun, THREAD_LIMITS } from './job-thread.ts'
import { type RequestRun, runJob } from './run-job.ts'

const SYNC_INTERVAL_MS = 60_000
/** Delay after a run without a result. */
const RETRY_MS = 60_000
const UNAVAILABLE_BACKOFF = { initialMs: 500, maxMs: 30_000 }
/** Jobs that are overdue start one after another, so that their threads do not exist at the same time. */
const OVERDUE_INTERVAL_MS = 1_000
/** bree skips a time that has passed. */
const MIN_DELAY_MS = 20
/** Time after the limit of a run in which its result is still awaited. */
const REPORT_MARGIN_S = 120

export interface JobsOptions {
  settings: JobSettings
  /** Stores when jobs are due, and resolves to the jobs with their last runs. */
  plan(jobs: readonly PlannedJob[]): Promise<Job[]>
  request: RequestRun
  /** Is called with the jobs whenever they are known. */
  onJobs(jobs: readonly Job[]): void
  log: Log
}

/** Starts the jobs of the appliance at their times, each run in a thread (bree). Management does the work. */
export interface Jobs {
  start(): void
  stop(): Promise<void>
}

export function createJobs({ settings, plan, request, onJobs, log }: JobsOptions): Jobs {
  const stopping = new AbortController()
  const { signal } = stopping
  /** The runs in progress; aborted when their thread has ended. */
  const running = new Map<JobName, AbortController>()
  /** The earliest next run of a job whose last one had no result, in epoch ms. */
  const retryAt = new Map<JobName, number>()
  let bree: Bree | undefined
  let wakeUp = new AbortController()
  let loop: Promise<void> | undefined

  /** Sets the timers of all jobs by their last runs, and stores when they are due. */
  async function sync(): Promise<void> {
    const jobs = await plan([])
    onJobs(jobs)
    const now = Date.now()
    let earliest = now + MIN_DELAY_MS
    const changed: PlannedJob[] = []
    for (const job of jobs) {
      const { job_name: name } = job
      // Its next time is known when it has ended.
      if (running.has(name) || job.job_state === 'running') continue
      const time = findNextRun(settings[name], job, now, Math.random)
      const startAt = time && Math.max(time, retryAt.get(name) ?? 0, earliest)
      if (startAt === earliest) earliest += OVERDUE_INTERVAL_MS
      await arm(name, startAt)
      const next_run_at = time === undefined ? null : new Date(time).toISOString()
      if (next_run_at !== job.next_run_at) changed.push({ job_name: name, next_run_at })
    }
    if (changed.length > 0) await plan(changed)
  }

  /** Sets the timer of a job to a time in epoch ms; undefined if the job is off. */
  async function arm(name: JobName, startAt: number | undefined): Promise<void> {
    bree ??= await createBree()
    // Its timer may have started it meanwhile.
    if (signal.aborted || running.has(name)) return
    bree.removeSafeTimer('timeouts', name)
    if (startAt === undefined) return
    const job = bree.config.jobs.find(candidate => candidate.name === name)!
    job.date = new Date(Math.max(startAt, Date.now() + MIN_DELAY_MS))
    await bree.start(name)
  }

  /** Loaded when it is first needed, because it is large. */
  async function createBree(): Promise<Bree> {
    const { default: BreeClass } = await import('bree')
    const created = new BreeClass({
      root: false,
      doRootCheck: false,
      timeout: false,
      jobs: JOB_NAMES.map(name => ({
        name,
        path: holdRun,
        worker: { env: {}, resourceLimits: THREAD_LIMITS },
        closeWorkerAfterMs: (settings[name].limit_s + REPORT_MARGIN_S) * 1000,
      })),
      logger: { info() {}, warn: logUnexpected, error: logUnexpected },
      workerMessageHandler: ({ name }) => void run(name as JobName),
      errorHandler(error, { name }) {
        if (!signal.aborted) reportFailure(name as JobName, error as Error)
      },
    })
    created.on('worker created', (name: JobName) => running.set(name, new AbortController()))
    created.on('worker deleted', (name: JobName) => {
      running.get(name)?.abort()
      running.delete(name)
      // Plans the next run.
      wakeUp.abort()
    })
    return created
  }

  /** Does a run whose thread has started, and ends the thread. */
  async function run(name: JobName): Promise<void> {
    const ended = running.get(name)?.signal ?? signal
    const options = {
      run_id: randomUUID(),
      limit_s: settings[name].limit_s,
      signal: AbortSignal.any([signal, ended]),
    }
    try {
      await runJob(request, name, options)
      retryAt.delete(name)
    } catch (error) {
      if (!signal.aborted) reportFailure(name, error as Error)
    }
    bree?.workers.get(name)?.postMessage('end')
  }

  function reportFailure(name: JobName, error: Error): void {
    retryAt.set(name, Date.now() + RETRY_MS)
    log.error({ job: name, reason: error.message }, 'failed to run job; it is tried again')
  }

  const logUnexpected = (reason: unknown) => log.warn({ reason: String(reason) }, 'unexpected state of a job')

  async function syncRepeatedly(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      wakeUp = new AbortController()
      try {
        await sync()
        failures = 0
      } catch (error) {
        // The first failure may be a connection that management has closed while it was idle.
        if (failures === 1 && !signal.aborted) log.warn({ err: error }, 'failed to plan jobs')
        failures += 1
      }
      const delayMs = failures > 0 ? backoffDelayMs(failures, UNAVAILABLE_BACKOFF) : SYNC_INTERVAL_MS
      const woken = AbortSignal.any([signal, wakeUp.signal])
      await wait(delayMs, undefined, { signal: woken }).catch(() => {})
    }
  }

  return {
    start() {
      loop = syncRepeatedly()
    },
    async stop() {
      stopping.abort()
      await loop
      for (const name of JOB_NAMES) bree?.removeSafeTimer('timeouts', name)
      // A run that management has begun goes on there. Its result is stored without this process.
      await Promise.all(Array.from(bree?.workers.values() ?? [], worker => worker.terminate()))
    },
  }
}
