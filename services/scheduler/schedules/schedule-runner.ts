import { setTimeout as wait } from 'node:timers/promises'
import { type Log, repeat, sleep } from '@eyrie/kit'
import { computeArmedStates } from '@eyrie/kit/schedules/armed-states'
import { createWakeUp } from '@eyrie/kit/wake-up'
import type { ManagementClient } from '../management-client/management-client.ts'

/**
 * Maximum time between two reports. States remain valid for longer, so that they do not expire
 * before the next report.
 */
const MAX_IDLE_MS = 3_600_000
/**
 * Maximum time between two readings of the clock, because the clock may be set while the process
 * sleeps.
 */
const MAX_SLEEP_MS = 30_000
/** Maximum number of states in a request. */
const BATCH_SIZE = 1_000
/** Maximum time by which a report may delay the end of the process. */
const STOP_TIMEOUT_MS = 800
const UNAVAILABLE_BACKOFF = { initialMs: 250, maxMs: 5_000 }

export interface ScheduleRunnerOptions {
  management: Pick<ManagementClient, 'readSchedules' | 'storeArmedStates' | 'waitForScheduleChange'>
  /** Returns ms since 1970. */
  now(): number
  log: Log
}

/**
 * Arms and disarms alerts by their schedules. It computes which alerts are armed, and reports this
 * to management at each change. After downtime, it reports only the current states, not the
 * changes that were missed.
 */
export interface ScheduleRunner {
  start(): void
  stop(): Promise<void>
}

export function createScheduleRunner({
  management,
  now,
  log,
}: ScheduleRunnerOptions): ScheduleRunner {
  const stopping = new AbortController()
  const { signal } = stopping
  /** Notified when the schedules have changed. */
  const wakeUp = createWakeUp(signal)
  let loops: Promise<unknown> | undefined

  async function reportAndSleep(): Promise<void> {
    const wokenUp = wakeUp.listen()
    const nextReport = await reportStates()
    while (!wokenUp.aborted && now() < nextReport) {
      await sleep(Math.min(nextReport - now(), MAX_SLEEP_MS), wokenUp)
    }
  }

  /** Reports the states of all alerts. Returns the time of the next report, in ms since 1970. */
  async function reportStates(): Promise<number> {
    const rules = await management.readSchedules()
    const time = now()
    const states = computeArmedStates(rules, time)
    for (let first = 0; first < states.length; first += BATCH_SIZE) {
      await management.storeArmedStates(states.slice(first, first + BATCH_SIZE))
    }

    let nextReport = time + MAX_IDLE_MS
    for (const { valid_until: validUntil } of states) {
      nextReport = Math.min(nextReport, Date.parse(validUntil))
    }
    return nextReport
  }

  /** Wakes up the reporting loop whenever the schedules in management have changed. */
  async function followChanges(): Promise<void> {
    let version = 0
    async function waitForChange() {
      const current = await management.waitForScheduleChange(version, signal)
      if (current !== version) wakeUp.notify()
      version = current
    }
    // Failures are not logged, because the reports fail and are logged as well.
    await repeat(waitForChange, { signal, backoff: UNAVAILABLE_BACKOFF })
  }

  return {
    start() {
      const reporting = repeat(reportAndSleep, {
        signal,
        backoff: UNAVAILABLE_BACKOFF,
        onFailure: error => log.warn({ err: error }, 'failed to carry out schedules'),
      })
      loops = Promise.all([reporting, followChanges()])
    },
    async stop() {
      stopping.abort()
      await Promise.race([loops, wait(STOP_TIMEOUT_MS)])
    },
  }
}
