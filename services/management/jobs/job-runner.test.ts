import { randomUUID } from 'node:crypto'
import { JOB_NAMES } from '@eyrie/contract/jobs'
import { createLog } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import { job } from '../db/schema/index.ts'
import { JobSkippedError, type JobWork, type JobWorks } from './job.ts'
import { createJobRunner } from './job-runner.ts'
import { claimRun, listJobs, readJob, requestRun, storePlan } from './job-store.ts'

const testDatabase = shared(createTestDatabase, ({ remove }) => remove())
const database = () => testDatabase.database
const log = createLog('management', 'silent')
const WAIT_MS = 60_000

beforeEach(() => database().system('test', tx => tx.delete(job)))

/** A runner whose job `expiry` does this work. */
function createRunner(work: JobWork) {
  const unused = async () => ''
  const works: JobWorks = {
    retention: unused,
    deliveries: unused,
    reports: unused,
    pictures: unused,
    database: unused,
    backup: unused,
    expiry: work,
  }
  return createJobRunner(works, log)
}

const run = (
  runner: ReturnType<typeof createRunner>,
  runId: string,
  limitMs = WAIT_MS,
  waitMs = WAIT_MS,
) => runner.run(database(), 'expiry', { run_id: runId, limitMs, waitMs })

const read = () => database().system('test', tx => readJob(tx, 'expiry'))

describe('a run', () => {
  it('happens once, however often it is requested', async () => {
    const work = vi.fn(async () => 'done')
    const runner = createRunner(work)
    const runId = randomUUID()
    const results = await Promise.all([run(runner, runId), run(runner, runId)])
    results.push(await run(runner, runId))
    expect(work).toHaveBeenCalledTimes(1)
    for (const result of results) {
      expect(result).toMatchObject({ run_id: runId, job_state: 'succeeded', job_message: 'done' })
    }
    expect(results[0]!.succeeded_at).toBe(results[0]!.finished_at)
  })

  it('excludes another one, also of another process, until it has ended', async () => {
    const end = Promise.withResolvers<string>()
    const first = createRunner(() => end.promise)
    const second = createRunner(async () => 'second')
    const [firstId, secondId] = [randomUUID(), randomUUID()]
    const begun = run(first, firstId, 10 * WAIT_MS)
    await vi.waitUntil(async () => (await read()).job_state === 'running')
    expect(await run(second, secondId)).toMatchObject({ run_id: firstId, job_state: 'running' })
    expect(await run(first, secondId, WAIT_MS, 0)).toMatchObject({
      run_id: firstId,
      job_state: 'running',
    })
    end.resolve('first')
    expect(await begun).toMatchObject({ job_message: 'first' })
    expect(await run(second, secondId)).toMatchObject({ run_id: secondId, job_message: 'second' })
  })

  it('that waits too long for its result is still in progress, and has the result later', async () => {
    const end = Promise.withResolvers<string>()
    const runner = createRunner(() => end.promise)
    const runId = randomUUID()
    expect(await run(runner, runId, WAIT_MS, 0)).toMatchObject({
      run_id: runId,
      job_state: 'running',
    })
    end.resolve('late')
    expect(await run(runner, runId)).toMatchObject({ job_state: 'succeeded', job_message: 'late' })
  })

  it('reports failures, work that takes too long, and work that is not needed', async () => {
    const failing = createRunner(async () => {
      throw new Error('the disk is full: free some space\0')
    })
    expect(await run(failing, randomUUID())).toMatchObject({
      job_state: 'failed',
      job_message: 'the disk is full: free some space',
      succeeded_at: null,
    })
    const endless = createRunner(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    expect(await run(endless, randomUUID(), 1)).toMatchObject({
      job_state: 'failed',
      job_message: 'did not finish within 0 s: raise limit_s of this job in eyrie.json',
    })
    const unneeded = createRunner(async () => {
      throw new JobSkippedError('no target')
    })
    expect(await run(unneeded, randomUUID())).toMatchObject({
      job_state: 'skipped',
      job_message: 'no target',
    })
  })

  it('begins again when its process has died and the lease has ended, or at once after an orderly stop', async () => {
    const runId = randomUUID()
    await database().system('test', tx => claimRun(tx, 'expiry', runId))
    const runner = createRunner(async () => 'again')
    expect(await run(runner, runId, WAIT_MS, 0)).toMatchObject({ job_state: 'running' })
    await database().system('test', tx =>
      tx
        .update(job)
        .set({ lease_until: sql`now() - interval '1 second'` })
        .where(eq(job.name, 'expiry')),
    )
    expect(await read()).toMatchObject({ job_state: 'failed', finished_at: null })
    expect(await run(runner, runId)).toMatchObject({ job_state: 'succeeded', job_message: 'again' })

    const stopped = createRunner(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    const next = randomUUID()
    await run(stopped, next, WAIT_MS, 0)
    await stopped.stop()
    expect(await run(runner, next)).toMatchObject({ run_id: next, job_message: 'again' })
  })
})

describe('a requested run', () => {
  it('begins after the one in progress, and is requested once', async () => {
    const messages = ['first', 'second']
    const end = Promise.withResolvers<void>()
    const runner = createRunner(async () => {
      await end.promise
      return messages.shift() ?? 'too many'
    })
    const running = run(runner, randomUUID())
    await vi.waitUntil(async () => (await read()).job_state === 'running')
    const request = () => database().system('test', tx => requestRun(tx, 'expiry'))
    const runId = await request()
    expect(await request()).toBe(runId)
    await runner.runRequested(database())
    expect(await read()).toMatchObject({ is_requested: true })
    end.resolve()
    await running
    await vi.waitUntil(async () => {
      await runner.runRequested(database())
      return !(await read()).is_requested
    })
    expect(await run(runner, runId)).toMatchObject({
      run_id: runId,
      job_message: 'second',
      is_requested: false,
    })
  })
})

describe('the plan', () => {
  it('is stored without changing the last run', async () => {
    const runner = createRunner(async () => 'done')
    const { run_id } = await run(runner, randomUUID())
    const nextRunAt = '2030-01-01T00:00:00.000Z'
    await database().system('test', tx =>
      storePlan(tx, [{ job_name: 'expiry', next_run_at: nextRunAt }]),
    )
    expect(await read()).toMatchObject({ run_id, next_run_at: nextRunAt, job_state: 'succeeded' })
    const jobs = await database().system('test', tx => listJobs(tx))
    expect(jobs).toHaveLength(JOB_NAMES.length)
    expect(jobs[0]).toMatchObject({
      job_name: 'retention',
      run_id: null,
      job_state: null,
      next_run_at: null,
    })
  })
})
