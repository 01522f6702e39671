import type { JobName } from '@eyrie/contract/jobs'
import { managementRoutes } from '@eyrie/contract/management/index'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { startSchedulerProcess } from '../../../test/fixtures/scheduler/run-scheduler.ts'
import { serveSchedulerApi } from '../../../test/fixtures/scheduler/scheduler-api.ts'
import { job } from '../../management/db/schema/index.ts'
import { storePlan } from '../../management/jobs/job-store.ts'

const management = sharedManagement()
beforeEach(() => management.database.system('test', tx => tx.delete(job)))

const plan = (jobName: JobName, time: number) =>
  management.database.system('test', tx =>
    storePlan(tx, [{ job_name: jobName, next_run_at: new Date(time).toISOString() }]),
  )

async function read(name: JobName) {
  const { response } = await management.call(managementRoutes.job.list)
  return response.find(({ job_name }) => job_name === name)!
}

async function start(jobs: object = {}) {
  const api = await serveSchedulerApi(management)
  onTestFinished(() => api.close())
  const scheduler = await startSchedulerProcess(api.url, { jobs })
  onTestFinished(() => scheduler.stop())
  return scheduler
}

const waitForState = (name: JobName, state: string) =>
  vi.waitUntil(async () => {
    const found = await read(name)
    return found.job_state === state ? found : undefined
  })

describe('the jobs of the scheduler', () => {
  it('are planned, and what was missed while nothing ran is done once', async () => {
    await plan('expiry', Date.now() - 3 * 86_400_000)
    const scheduler = await start({ retention: { schedule: 'off' } })
    const { run_id: runId, next_run_at: nextRunAt } = await waitForState('expiry', 'succeeded')
    await vi.waitUntil(async () => (await read('expiry')).next_run_at! > new Date().toISOString())
    expect((await read('expiry')).run_id).toBe(runId)
    expect(nextRunAt).not.toBeNull()
    expect(await read('retention')).toMatchObject({ next_run_at: null, run_id: null })
    expect(await read('backup')).toMatchObject({ run_id: null })
    expect(Date.parse((await read('backup')).next_run_at!)).toBeGreaterThan(Date.now())
    const metrics = await (await fetch(`${scheduler.url}/metrics`)).text()
    expect(metrics).toMatch(/eyrie_scheduler_job_runs_total\{job="expiry",result="succeeded"\} 1/)
    expect(metrics).toMatch(/eyrie_scheduler_job_last_success_seconds\{job="expiry"\} \d+/)
    expect(metrics).toMatch(/eyrie_scheduler_job_duration_seconds\{job="expiry"\} [\d.]+/)
  })

  it('run at their times', async () => {
    await plan('expiry', Date.now() + 1_500)
    await start()
    const { started_at: startedAt } = await waitForState('expiry', 'succeeded')
    expect(startedAt).not.toBeNull()
  })

  it('end with the result of management, and are planned again after a failure', async () => {
    await plan('backup', Date.now() - 1000)
    await start()
    expect(await waitForState('backup', 'skipped')).toMatchObject({
      job_message: 'no target is configured: set backup_target with /config/backup/update',
    })
  })

  it('happen once although the connection to management is lost meanwhile', async () => {
    await plan('expiry', Date.now() - 1000)
    const first = await serveSchedulerApi(management)
    const scheduler = await startSchedulerProcess(first.url, {})
    onTestFinished(() => scheduler.stop())
    await first.close()
    const second = await serveSchedulerApi(management, Number(new URL(first.url).port))
    onTestFinished(() => second.close())
    const { run_id: runId } = await waitForState('expiry', 'succeeded')
    await vi.waitUntil(async () => (await read('expiry')).next_run_at! > new Date().toISOString())
    expect((await read('expiry')).run_id).toBe(runId)
  })
})
