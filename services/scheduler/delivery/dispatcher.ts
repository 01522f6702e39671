import { setTimeout as wait } from 'node:timers/promises'
import { repeat, sleep } from '@eyrie/kit'
import { createWakeUp } from '@eyrie/kit/wake-up'
import { createSendingPool, type SendingPoolOptions } from './sending-pool.ts'
import { createTargets, TARGET_CONCURRENCY } from './targets.ts'

/**
 * The lease of a delivery is longer than the timeout of an attempt by this time. The result of the
 * attempt can be reported in it.
 */
const REPORT_MARGIN_MS = 5_000
/** Maximum time between two claims. */
const MAX_IDLE_MS = 30_000
const UNAVAILABLE_BACKOFF = { initialMs: 250, maxMs: 5_000 }
/** Maximum time by which messages that are being sent may delay the end of the process. */
const STOP_TIMEOUT_MS = 800

export type DispatcherOptions = Omit<SendingPoolOptions, 'targets' | 'onFree'>

/** Claims due deliveries from management, sends their messages and reports the results. */
export interface Dispatcher {
  start(): void
  stop(): Promise<void>
  /** Returns the number of targets whose deliveries are paused, because they are down. */
  countPausedTargets(): number
  /** Whether management has answered the last claim. */
  isConnected(): boolean
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { management, timeoutMs, log } = options
  const stopping = new AbortController()
  const { signal } = stopping
  /** Notified when another claim may be useful: a delivery became due, or a message was sent. */
  const wakeUp = createWakeUp(signal)
  const targets = createTargets()
  const pool = createSendingPool({ ...options, targets, onFree: wakeUp.notify })
  let isConnected = false
  let loops: Promise<unknown> | undefined

  async function claimAndSleep(): Promise<void> {
    // Listens before it claims, so that no notification during the claim is missed.
    const wokenUp = wakeUp.listen()
    const idleMs = pool.countFree() > 0 ? await claimDue() : MAX_IDLE_MS
    if (idleMs > 0) await sleep(idleMs, wokenUp)
  }

  /** Claims due deliveries and begins to send them. Returns the time in ms until the next claim. */
  async function claimDue(): Promise<number> {
    const {
      deliveries,
      next_due_ms: nextDueMs,
      ...settings
    } = await management.claim({
      limit: pool.countFree(),
      lease_s: (timeoutMs + REPORT_MARGIN_MS) / 1000,
      target_limit: TARGET_CONCURRENCY,
      target_limits: targets.getLimits(),
    })
    isConnected = true
    // Deliveries that were claimed while the service stops become due again when their lease ends.
    if (signal.aborted) return 0

    for (const delivery of deliveries) pool.add(delivery, settings)
    // There may be more due deliveries than one claim returns.
    if (deliveries.length > 0) return 0
    return Math.min(nextDueMs ?? MAX_IDLE_MS, targets.getNextProbeMs() ?? MAX_IDLE_MS, MAX_IDLE_MS)
  }

  /** Wakes up the claiming loop whenever the deliveries in management have changed. */
  async function followChanges(): Promise<void> {
    let version = 0
    async function waitForChange() {
      version = await management.waitForChange(version, signal)
      wakeUp.notify()
    }
    // Failures are not logged, because the claims fail and are logged as well.
    await repeat(waitForChange, { signal, backoff: UNAVAILABLE_BACKOFF })
  }

  return {
    start() {
      const claiming = repeat(claimAndSleep, {
        signal,
        backoff: UNAVAILABLE_BACKOFF,
        onFailure(error) {
          isConnected = false
          log.warn({ err: error }, 'failed to claim deliveries')
        },
      })
      loops = Promise.all([claiming, followChanges()])
    },
    async stop() {
      stopping.abort()
      const finished = Promise.resolve(loops).then(pool.finish)
      // Deliveries without a result become due again when their lease ends.
      await Promise.race([finished, wait(STOP_TIMEOUT_MS)])
    },
    countPausedTargets: targets.countPaused,
    isConnected: () => isConnected,
  }
}
