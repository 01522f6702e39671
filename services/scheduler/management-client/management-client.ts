import {
  type ClaimedBatch,
  type DeliveryClaim,
  type DeliveryResult,
  deliveryChanges,
  deliveryClaim,
  deliveryPicturePath,
  deliveryReportPath,
  deliveryResults,
} from '@eyrie/contract/management/delivery-queue'
import type { Job } from '@eyrie/contract/management/job'
import { jobPlan, jobRun, type PlannedJob } from '@eyrie/contract/management/job-queue'
import {
  type ArmedAlertState,
  armedStates,
  type ScheduleRules,
  scheduleChanges,
  scheduleRules,
} from '@eyrie/contract/management/schedule-rules'
import { parseAs } from '@eyrie/contract/parse'
import { type EgressRequest, fetchService } from '@eyrie/kit'

/** The internal API of management. Calls reject while management is unreachable. */
export interface ManagementClient {
  /** Claims due deliveries. */
  claim(claim: DeliveryClaim): Promise<ClaimedBatch>
  storeResults(results: readonly DeliveryResult[]): Promise<void>
  /** Resolves with the current version once it differs from `version`, or after some seconds. */
  waitForChange(version: number, signal: AbortSignal): Promise<number>
  /** Reads the active schedules of all alerts. */
  readSchedules(): Promise<ScheduleRules>
  storeArmedStates(states: readonly ArmedAlertState[]): Promise<void>
  /** As `waitForChange`, for schedules. */
  waitForScheduleChange(version: number, signal: AbortSignal): Promise<number>
  /** Stores when jobs are due, and resolves to all jobs. */
  planJobs(jobs: readonly PlannedJob[]): Promise<Job[]>
  /** Starts a run of a job, and resolves when it has ended or after some seconds. */
  runJob(name: string, run_id: string, limit_s: number, signal: AbortSignal): Promise<Job>
  /** Resolves to a JPEG, or to undefined if it is not stored. */
  readPicture(sha256: string, signal: AbortSignal): Promise<Buffer | undefined>
  /** Resolves to the file of a scheduled report, or to undefined if it was deleted. */
  readReport(report_id: string, signal: AbortSignal): Promise<Buffer | undefined>
}

const REQUEST_TIMEOUT_MS = 10_000
/** Management answers a request for changes, and for the result of a job, after 20 s at the latest. */
const CHANGE_TIMEOUT_MS = 30_000

export function createManagementClient(url: string, token: string): ManagementClient {
  const authorization = `Bearer ${token}`

  async function send(path: string, options: EgressRequest): Promise<Response> {
    return fetchService(url, path, { ...options, headers: { ...options.headers, authorization } })
  }

  async function post(
    path: string,
    body: object,
    signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  ): Promise<unknown> {
    const response = await send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    return readJson(response)
  }

  async function waitForVersion(
    { path, response }: typeof deliveryChanges | typeof scheduleChanges,
    version: number,
    signal: AbortSignal,
  ): Promise<number> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(CHANGE_TIMEOUT_MS)])
    const answer = await readJson(await send(`${path}?version=${version}`, { signal: limited }))
    return parseAs(response, answer).version
  }

  /** Resolves to undefined if the file does not exist. */
  async function readFile(path: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const response = await send(path, { signal })
    if (response.status === 404) {
      await response.body?.cancel()
      return undefined
    }
    await assertOk(response)
    return Buffer.from(await response.arrayBuffer())
  }

  return {
    claim: async claim => parseAs(deliveryClaim.response, await post(deliveryClaim.path, claim)),

    async storeResults(results) {
      await post(deliveryResults.path, { results })
    },

    waitForChange: (version, signal) => waitForVersion(deliveryChanges, version, signal),

    async readSchedules() {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
      return parseAs(scheduleRules.response, await readJson(await send(scheduleRules.path, { signal })))
    },

    async storeArmedStates(states) {
      await post(armedStates.path, { states })
    },

    waitForScheduleChange: (version, signal) => waitForVersion(scheduleChanges, version, signal),

    planJobs: async jobs => parseAs(jobPlan.response, await post(jobPlan.path, { jobs })).jobs,

    async runJob(name, run_id, limit_s, signal) {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(CHANGE_TIMEOUT_MS)])
      return parseAs(jobRun.response, await post(jobRun.path(name), { run_id, limit_s }, limited))
    },

    readPicture: (sha256, signal) => readFile(deliveryPicturePath(sha256), signal),
    readReport: (report_id, signal) => readFile(deliveryReportPath(report_id), signal),
  }
}

async function readJson(response: Response): Promise<unknown> {
  await assertOk(response)
  return response.json()
}

async function assertOk(response: Response): Promise<void> {
  if (response.ok) return
  const text = await response.text()
  throw new Error(`management answers ${response.status}: ${text.slice(0, 200)}`)
}
