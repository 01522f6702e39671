import { setTimeout as wait } from 'node:timers/promises'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import { computeArmedStates } from '@eyrie/kit/schedules/armed-states'
import type { ManagementClient } from '../management-client/management-client.ts'

/** Longest time without reading the schedules again. States are valid for longer, so that they do not expire before. */
const MAX_IDLE_MS = 3_600_000
/** Longest time without a look at the clock, which may be set while the process sleeps. */
const MAX_SLEEP_MS = 30_000
/** Number of states in a request. */
const BATCH_SIZE = 1_000
/** How long a report may delay the end of the process. */
const STOP_TIMEOUT_MS = 800
const UNAVAILABLE_BACKOFF = { initialMs: 250, maxMs: 5_000 }

export interface ScheduleRunnerOptions {
  management: Pick<ManagementClient, 'readSchedules' | 'storeArmedStates' | 'waitForScheduleChange'>
  /** Epoch ms. */
  now(): number
  log: Log
}

/**
 * Carries out the schedules of alerts: computes which alerts are armed, reports it to management, and sleeps until the next change
 * or until the schedules change. After downtime, the states that hold now are reported at once, and missed changes are not repeated.
 */
export interface ScheduleRunner {
  start(): void
  stop(): Promise<void>
}

export function createScheduleRunner({ management, now, log }: ScheduleRunnerOptions): ScheduleRunner {
  const stopping = new AbortController()
  const { signal } = stopping
  /** Aborted when the schedules have changed. */
  let outdated = new AbortController()
  let loops: Promise<unknown> | undefined

  /** Reports all states. Returns when to do so again, in epoch ms. */
  async function reportStates(): Promise<number> {
    const rules = await management.readSchedules()
    const time = now()
    const states = computeArmedStates(rules, time)
    for (let first = 0; first < states.length; first += BATCH_SIZE)
      await management.storeArmedStates(states.slice(first, first + BATCH_SIZE))
    const ends = states.map(({ valid_until }) => Date.parse(valid_until))
    return ends.reduce((earliest, end) => Math.min(earliest, end), time + MAX_IDLE_MS)
  }

  async function reportRepeatedly() {
    for (let failures = 0; !signal.aborted; ) {
      outdated = new AbortController()
      try {
        await sleepUntil(await reportStates(), AbortSignal.any([signal, outdated.signal]))
        failures = 0
      } catch (error) {
        if (failures === 0 && !signal.aborted) log.warn({ err: error }, 'failed to carry out schedules')
        await sleep(backoffDelayMs(failures, UNAVAILABLE_BACKOFF), signal)
        failures += 1
      }
    }
  }

  async function followChanges() {
    for (let version = 0, failures = 0; !signal.aborted; ) {
      try {
        const current = await management.waitForScheduleChange(version, signal)
        if (current !== version) outdated.abort()
        version = current
        failures = 0
      } catch {
        // `reportRepeatedly` logs that management is unreachable.
        await sleep(backoffDelayMs(failures, UNAVAILABLE_BACKOFF), signal)
        failures += 1
      }
    }
  }

  /** Resolves at a time of the clock, or when the signal is aborted. */
  async function sleepUntil(time: number, ended: AbortSignal) {
    while (!ended.aborted && now() < time) await sleep(Math.min(time - now(), MAX_SLEEP_MS), ended)
  }

  const sleep = (ms: number, ended: AbortSignal) => wait(ms, undefined, { signal: ended }).catch(() => {})

  return {
    start() {
      loops = Promise.all([reportRepeatedly(), followChanges()])
    },
    async stop() {
      stopping.abort()
      await Promise.race([loops, wait(STOP_TIMEOUT_MS)])
    },
  }
}
