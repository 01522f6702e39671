import { setTimeout as wait } from 'node:timers/promises'
import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import { type Log, repeat } from '@eyrie/kit'
import type { ManagementClient } from '../management-client/management-client.ts'
import type { DeliverySettings, Outcome } from '../senders/sender.ts'
import { type AttemptOptions, attemptDelivery, toResult } from './attempt-delivery.ts'
import { createResultReporter } from './result-reporter.ts'
import { createTargets, TARGET_CONCURRENCY } from './targets.ts'

/** Maximum number of messages that are sent at the same time. */
const CONCURRENCY = 256
/**
 * Time after the limit of an attempt in which its result can still be reported. The lease of the
 * delivery ends afterwards.
 */
const REPORT_MARGIN_MS = 5_000
/** Maximum time between two claims. */
const MAX_IDLE_MS = 30_000
const UNAVAILABLE_BACKOFF = { initialMs: 250, maxMs: 5_000 }
/** Maximum time by which messages that are being sent may delay the end of the process. */
const STOP_TIMEOUT_MS = 800

export interface DispatcherOptions extends AttemptOptions {
  management: ManagementClient
  log: Log
  /** Called with the outcome of each attempt. */
  onOutcome?(delivery: ClaimedDelivery, outcome: Outcome): void
}

/** Claims due deliveries from management, sends their messages and reports the results. */
export interface Dispatcher {
  start(): void
  stop(): Promise<void>
  /** Returns the number of targets that do not accept messages. */
  countDownTargets(): number
  /** Whether management has answered the last claim. */
  isConnected(): boolean
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { management, timeoutMs, log, onOutcome } = options
  const targets = createTargets(Date.now)
  const reporter = createResultReporter(management, log)
  const stopping = new AbortController()
  const { signal } = stopping
  const inFlight = new Set<Promise<void>>()
  /** Resolved when a delivery may have become due, or when a message was sent. */
  let wakeUp = Promise.withResolvers<void>()
  /** Version of the queue of deliveries in management. */
  let queueVersion = 0
  let isConnected = false
  let loops: Promise<unknown> | undefined

  async function send(delivery: ClaimedDelivery, settings: DeliverySettings): Promise<void> {
    const { type, delivery_id, target } = delivery
    targets.begin(target)
    const outcome = await attemptDelivery(delivery, settings, options)
    reporter.report(toResult(delivery, outcome))

    const isNewlyDown = targets.finish(target, outcome)
    const { reason } = outcome
    if (isNewlyDown) {
      log.warn({ type, delivery_id, reason }, 'failed to reach target; pausing its deliveries')
    }
    onOutcome?.(delivery, outcome)
  }

  function startSending(delivery: ClaimedDelivery, settings: DeliverySettings): void {
    const sending = send(delivery, settings).finally(() => {
      inFlight.delete(sending)
      wakeUp.resolve()
    })
    inFlight.add(sending)
  }

  /** Claims due deliveries and starts to send them. Returns the time in ms until the next claim. */
  async function claimDue(): Promise<number> {
    const {
      deliveries,
      next_due_ms: nextDueMs,
      ...settings
    } = await management.claim({
      limit: CONCURRENCY - inFlight.size,
      lease_s: (timeoutMs + REPORT_MARGIN_MS) / 1000,
      target_limit: TARGET_CONCURRENCY,
      target_limits: targets.getLimits(),
    })
    // Deliveries that were claimed while the service stops become due again when their lease ends.
    if (signal.aborted) return 0

    for (const delivery of deliveries) startSending(delivery, settings)
    // There may be more due deliveries than one claim returns.
    if (deliveries.length > 0) return 0
    return Math.min(nextDueMs ?? MAX_IDLE_MS, targets.getNextProbeMs() ?? MAX_IDLE_MS, MAX_IDLE_MS)
  }

  /** Claims once if the concurrency permits it, and waits until another claim is useful. */
  async function claimAndWait(): Promise<void> {
    wakeUp = Promise.withResolvers()
    if (inFlight.size >= CONCURRENCY) return waitForWakeUp(MAX_IDLE_MS)

    const idleMs = await claimDue()
    isConnected = true
    if (idleMs > 0) await waitForWakeUp(idleMs)
  }

  async function waitForWakeUp(timeoutMs: number): Promise<void> {
    const timer = setTimeout(wakeUp.resolve, timeoutMs)
    await wakeUp.promise
    clearTimeout(timer)
  }

  async function waitForChange(): Promise<void> {
    queueVersion = await management.waitForChange(queueVersion, signal)
    wakeUp.resolve()
  }

  return {
    start() {
      const claiming = repeat(claimAndWait, {
        signal,
        backoff: UNAVAILABLE_BACKOFF,
        onFailure(error) {
          isConnected = false
          log.warn({ err: error }, 'failed to claim deliveries')
        },
      })
      // Failures are not logged, because the claims fail and are logged as well.
      const following = repeat(waitForChange, { signal, backoff: UNAVAILABLE_BACKOFF })
      loops = Promise.all([claiming, following])
    },
    async stop() {
      stopping.abort()
      wakeUp.resolve()
      const finished = Promise.all([loops, ...inFlight]).then(reporter.flush)
      // Deliveries without a result become due again when their lease ends.
      await Promise.race([finished, wait(STOP_TIMEOUT_MS)])
    },
    countDownTargets: targets.countDown,
    isConnected: () => isConnected,
  }
}
