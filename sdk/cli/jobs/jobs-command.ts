import { setTimeout as wait } from 'node:timers/promises'
import { JOB_NAMES, jobName } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import { operatorJobRun, operatorJobs } from '@eyrie/contract/management/operator'
import { type Command, JSON_OPTION, parseArguments, UsageError } from '../command/command.ts'
import {
  type Output,
  type Style,
  styled,
  type Terminal,
  writeJson,
  writeSuccess,
  writeTable,
} from '../command/terminal.ts'
import { requestOperator } from '../user/operator-request.ts'

const POLL_MS = 500

/** `eyrie jobs`: lists the jobs that maintain the appliance. */
export const jobsCommand: Command = {
  usage: '[--json]',
  about:
    'Lists the jobs that maintain the appliance, with their last and next runs. Run it on the machine of the appliance.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const jobs = await readJobs(terminal)
    if (values.json) writeJson(terminal.out, jobs)
    else printJobs(jobs, terminal.out)
  },
}

/** `eyrie jobs run`: runs a job and waits for its result. */
export const runJobCommand: Command = {
  usage: '<job>',
  about: 'Runs a job now and waits for its result. Ctrl-C ends the waiting, not the job.',

  async run(args, terminal) {
    const { positionals } = parseArguments(args, {}, ['job'])
    const name = jobName.safeParse(positionals[0]).data
    if (!name) {
      throw new UsageError(
        `there is no job ${positionals[0]}: choose one of ${JOB_NAMES.join(', ')}`,
      )
    }

    const answer = await requestOperator(operatorJobRun.path, terminal, { job_name: name })
    const { run_id: runId } = operatorJobRun.response.parse(answer)
    const { job_state, job_message } = await waitForRun(name, runId, terminal)
    if (job_state === 'failed') throw new Error(`the job ${name} has failed: ${job_message}`)
    writeSuccess(terminal.out, job_state ?? 'ended', `${name}: ${job_message}`)
  },
}

/**
 * Waits until the run has ended. Rejects if the next run has started before its result could be
 * read.
 */
async function waitForRun(name: string, runId: string, terminal: Terminal): Promise<Job> {
  for (;;) {
    const jobs = await readJobs(terminal)
    const job = jobs.find(({ job_name }) => job_name === name)
    if (!job) throw new Error(`the management service has no job ${name}`)
    const isCurrent = job.run_id === runId
    if (isCurrent && job.finished_at !== null) return job
    // Until the requested run starts, the job reports an earlier run.
    if (!isCurrent && !job.is_requested) {
      throw new Error(`the job ${name} has run, but its next run has replaced its result already`)
    }
    await wait(POLL_MS)
  }
}

const readJobs = async (terminal: Terminal): Promise<Job[]> =>
  operatorJobs.response.parse(await requestOperator(operatorJobs.path, terminal)).jobs

const STATE_STYLES: Record<NonNullable<Job['job_state']>, Style> = {
  running: 'cyan',
  succeeded: 'green',
  failed: 'red',
  skipped: 'yellow',
}

function printJobs(jobs: readonly Job[], out: Output): void {
  const rows = jobs.map(job => [
    job.job_name,
    formatTime(job.started_at),
    job.job_state ? styled(out, STATE_STYLES[job.job_state], job.job_state) : '-',
    job.duration_ms === null ? '-' : `${(job.duration_ms / 1000).toFixed(1)} s`,
    formatTime(job.next_run_at),
    job.job_message,
  ])
  const header = ['JOB', 'LAST RUN', 'RESULT', 'DURATION', 'NEXT RUN', 'MESSAGE']
  writeTable(out, [header.map(title => styled(out, 'bold', title)), ...rows])
}

/** Formats a time in the time zone of the machine: `2026-03-04 02:41`. */
function formatTime(time: string | null): string {
  if (time === null) return '-'
  const date = new Date(time)
  const [year, month, day, hours, minutes] = [
    date.getFullYear(),
    date.getMonth() + 1,
    date.getDate(),
    date.getHours(),
    date.getMinutes(),
  ].map(part => String(part).padStart(2, '0'))
  return `${year}-${month}-${day} ${hours}:${minutes}`
}
