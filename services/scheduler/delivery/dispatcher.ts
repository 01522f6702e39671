import { setTimeout as wait } from 'node:timers/promises'
import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import type { ManagementClient } from '../management-client/management-client.ts'
import type { DeliverySettings, Outcome } from '../senders/sender.ts'
import { type AttemptOptions, attemptDelivery, toResult } from './attempt-delivery.ts'
import { createResultReporter } from './result-reporter.ts'
import { createTargets, TARGET_CONCURRENCY } from './targets.ts'

/** Maximum number of messages that are being sent. */
const CONCURRENCY = 256
/** Time between the limit of an attempt and the end of its lease, in which the result is reported. */
const REPORT_MARGIN_MS = 5_000
/** Longest time without a look at the queue. */
const MAX_IDLE_MS = 30_000
const UNAVAILABLE_BACKOFF = { initialMs: 250, maxMs: 5_000 }
/** How long messages that are being sent may delay the end of the process. */
const STOP_TIMEOUT_MS = 800

export interface DispatcherOptions extends AttemptOptions {
  management: ManagementClient
  log: Log
  /** Is called with each outcome. */
  onOutcome?(delivery: ClaimedDelivery, outcome: Outcome): void
}

/** Claims due deliveries from management, sends them and reports the results. */
export interface Dispatcher {
  start(): void
  stop(): Promise<void>
  /** Number of targets that do not accept messages. */
  countDownTargets(): number
  /** Whether management answered the last request. */
  isConnected(): boolean
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { management, timeoutMs, log, onOutcome } = options
  const targets = createTargets(Date.now)
  const reporter = createResultReporter(management, log)
  const stopping = new AbortController()
  const { signal } = stopping
  const inFlight = new Set<Promise<void>>()
  /** Resolves when there may be something to claim. */
  let wakeUp = Promise.withResolvers<void>()
  let isConnected = false
  let loops: Promise<unknown> | undefined

  async function send(delivery: ClaimedDelivery, settings: DeliverySettings) {
    targets.begin(delivery.target)
    const outcome = await attemptDelivery(delivery, settings, options)
    reporter.report(toResult(delivery, outcome))
    const { type, delivery_id } = delivery
    if (targets.finish(delivery.target, outcome))
      log.warn(
        { type, delivery_id, reason: outcome.reason },
        'failed to reach target; pausing its deliveries',
      )
    onOutcome?.(delivery, outcome)
  }

  /** Claims and begins what can be sent now. Returns how long to wait before the next claim. */
  async function claimAndSend(): Promise<number> {
    const { deliveries, next_due_ms, ...settings } = await management.claim({
      limit: CONCURRENCY - inFlight.size,
      lease_s: (timeoutMs + REPORT_MARGIN_MS) / 1000,
      target_limit: TARGET_CONCURRENCY,
      target_limits: targets.limits(),
    })
    // What was claimed while stopping becomes due again when its lease ends.
    if (signal.aborted) return 0
    for (const delivery of deliveries) {
      const sent = send(delivery, settings).finally(() => {
        inFlight.delete(sent)
        wakeUp.resolve()
      })
      inFlight.add(sent)
    }
    if (deliveries.length > 0) return 0
    return Math.min(next_due_ms ?? MAX_IDLE_MS, targets.nextProbeMs() ?? MAX_IDLE_MS, MAX_IDLE_MS)
  }

  async function claimRepeatedly() {
    for (let failures = 0; !signal.aborted; ) {
      wakeUp = Promise.withResolvers()
      if (inFlight.size >= CONCURRENCY) {
        await waitForWakeUp(MAX_IDLE_MS)
        continue
      }
      try {
        const idleMs = await claimAndSend()
        isConnected = true
        failures = 0
        if (idleMs > 0) await waitForWakeUp(idleMs)
      } catch (error) {
        if (failures === 0 && !signal.aborted) log.warn({ err: error }, 'failed to claim deliveries')
        isConnected = false
        await waitFor(backoffDelayMs(failures, UNAVAILABLE_BACKOFF))
        failures += 1
      }
    }
  }

  async function followChanges() {
    for (let version = 0, failures = 0; !signal.aborted; ) {
      try {
        version = await management.waitForChange(version, signal)
        failures = 0
        wakeUp.resolve()
      } catch {
        // `claimRepeatedly` logs that management is unreachable.
        await waitFor(backoffDelayMs(failures, UNAVAILABLE_BACKOFF))
        failures += 1
      }
    }
  }

  async function waitForWakeUp(timeoutMs: number): Promise<void> {
    const { promise, resolve } = wakeUp
    const timer = setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
  }

  const waitFor = (ms: number) => wait(ms, undefined, { signal }).catch(() => {})

  return {
    start() {
      loops = Promise.all([claimRepeatedly(), followChanges()])
    },
    async stop() {
      stopping.abort()
      wakeUp.resolve()
      const finished = Promise.all([loops, ...inFlight]).then(reporter.flush)
      // What is not finished in time becomes due again when its lease ends.
      await Promise.race([finished, wait(STOP_TIMEOUT_MS)])
    },
    countDownTargets: targets.countDown,
    isConnected: () => isConnected,
  }
}
