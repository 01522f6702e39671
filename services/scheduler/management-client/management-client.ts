import {
  type ClaimedBatch,
  type ClaimRequest,
  type DeliveryResult,
  deliveryChangesRoute,
  deliveryClaimRoute,
  deliveryPicturePath,
  deliveryReportPath,
  deliveryResultsRoute,
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

/**
 * A client of management's internal API for the scheduler. Calls reject while management is
 * unreachable.
 */
export interface ManagementClient {
  /** Claims due deliveries. */
  claim(claim: ClaimRequest): Promise<ClaimedBatch>
  storeResults(results: readonly DeliveryResult[]): Promise<void>
  /**
   * Waits until the version of the deliveries differs from `version`, or for some seconds. Returns
   * the current version.
   */
  waitForChange(version: number, signal: AbortSignal): Promise<number>
  /** Reads the active schedules of all alerts. */
  readSchedules(): Promise<ScheduleRules>
  storeArmedStates(states: readonly ArmedAlertState[]): Promise<void>
  /**
   * Waits until the version of the schedules differs from `version`, or for some seconds. Returns
   * the current version.
   */
  waitForScheduleChange(version: number, signal: AbortSignal): Promise<number>
  /** Stores when jobs are due. Returns all jobs. */
  planJobs(jobs: readonly PlannedJob[]): Promise<Job[]>
  /**
   * Starts a run of a job, or waits further for a run that has already started. Returns the job
   * when the run has ended, or after some seconds.
   */
  runJob(name: string, run: JobRun): Promise<Job>
  /** Returns a picture as JPEG. Undefined if it is not stored. */
  readPicture(sha256: string, signal: AbortSignal): Promise<Buffer | undefined>
  /** Returns the file of a scheduled report. Undefined if it was deleted. */
  readReport(reportId: string, signal: AbortSignal): Promise<Buffer | undefined>
}

export interface JobRun {
  runId: string
  /** Maximum duration of the run, in seconds. */
  limitS: number
  /** Ends the waiting for the result. */
  signal: AbortSignal
}

const REQUEST_TIMEOUT_MS = 10_000
/** Requests for changes and for the results of jobs wait in management for up to 20 s. */
const LONG_REQUEST_TIMEOUT_MS = 30_000
/** Maximum length of an answer in an error message. */
const MAX_QUOTED_LENGTH = 200

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
    route: typeof deliveryChangesRoute | typeof scheduleChanges,
    version: number,
    signal: AbortSignal,
  ): Promise<number> {
    const response = await send(`${route.path}?version=${version}`, {
      signal: limitLongRequest(signal),
    })
    return parseAs(route.response, await readJson(response)).version
  }

  /** Returns undefined if the file does not exist. */
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
    claim: async claim =>
      parseAs(deliveryClaimRoute.response, await post(deliveryClaimRoute.path, claim)),

    async storeResults(results) {
      await post(deliveryResultsRoute.path, { results })
    },

    waitForChange: (version, signal) => waitForVersion(deliveryChangesRoute, version, signal),

    async readSchedules() {
      const response = await send(scheduleRules.path, {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      })
      return parseAs(scheduleRules.response, await readJson(response))
    },

    async storeArmedStates(states) {
      await post(armedStates.path, { states })
    },

    waitForScheduleChange: (version, signal) => waitForVersion(scheduleChanges, version, signal),

    planJobs: async jobs => parseAs(jobPlan.response, await post(jobPlan.path, { jobs })).jobs,

    async runJob(name, { runId, limitS, signal }) {
      const body = { run_id: runId, limit_s: limitS }
      const answer = await post(jobRun.path(name), body, limitLongRequest(signal))
      return parseAs(jobRun.response, answer)
    },

    readPicture: (sha256, signal) => readFile(deliveryPicturePath(sha256), signal),
    readReport: (reportId, signal) => readFile(deliveryReportPath(reportId), signal),
  }
}

function limitLongRequest(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(LONG_REQUEST_TIMEOUT_MS)])
}

async function readJson(response: Response): Promise<unknown> {
  await assertOk(response)
  return response.json()
}

async function assertOk(response: Response): Promise<void> {
  if (response.ok) return
  const text = await response.text()
  throw new Error(`management answers ${response.status}: ${text.slice(0, MAX_QUOTED_LENGTH)}`)
}
