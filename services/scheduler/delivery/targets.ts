import type { Outcome } from '../senders/sender.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'

/** Maximum number of messages that are sent to one target at the same time. */
export const TARGET_CONCURRENCY = 16
/** Time after which a target without messages is removed. */
const IDLE_MS = 3_600_000

/**
 * Limits the messages to each target, such as a server, so that a slow or unreachable target does
 * not delay other targets.
 */
export interface Targets {
  /** Must be called when an attempt begins. */
  begin(target: string): void
  /**
   * Must be called with the outcome of the attempt. Returns whether this outcome has changed the
   * target from up to down.
   */
  finish(target: string, outcome: Outcome): boolean
  /**
   * Returns how many more messages may be sent to each target. For targets that are not listed, it
   * is `TARGET_CONCURRENCY`.
   */
  getLimits(): Record<string, number>
  /**
   * Returns the time in ms until a target that is down may be tried again. Undefined if none is
   * down.
   */
  getNextProbeMs(): number | undefined
  /** Returns the number of targets whose deliveries are paused, because they are down. */
  countPaused(): number
}

interface Target {
  /** Number of messages that are being sent. */
  inFlight: number
  /** Start of the last attempt, in ms of the monotonic clock. */
  lastUsedAt: number
  /** Open while the target counts as down. */
  breaker: CircuitBreaker
}

/**
 * `now` returns ms of a monotonic clock, because pauses must not depend on corrections of the time;
 * `random` returns a number from 0 to 1.
 */
export function createTargets(now = () => performance.now(), random?: () => number): Targets {
  const targets = new Map<string, Target>()

  function removeIdle() {
    for (const [name, { inFlight, lastUsedAt }] of targets) {
      const isIdle = inFlight === 0 && now() - lastUsedAt > IDLE_MS
      if (isIdle) targets.delete(name)
    }
  }

  return {
    begin(name) {
      const target = targets.get(name) ?? {
        inFlight: 0,
        lastUsedAt: 0,
        breaker: createCircuitBreaker(now, random),
      }
      target.inFlight++
      target.lastUsedAt = now()
      targets.set(name, target)
    },
    finish(name, outcome) {
      const target = targets.get(name)
      if (!target) throw new Error(`no attempt has begun for ${name}`)
      target.inFlight--
      const { breaker } = target

      const isTargetDown = outcome.state === 'failed' && outcome.isTargetDown
      if (isTargetDown) {
        const wasClosed = breaker.state() === 'closed'
        breaker.recordFailure()
        return wasClosed && breaker.state() !== 'closed'
      }

      breaker.recordSuccess()
      if (target.inFlight === 0) targets.delete(name)
      return false
    },

    getLimits() {
      removeIdle()
      const limits = Array.from(targets, ([name, target]) => [name, calculateLimit(target)])
      return Object.fromEntries(limits)
    },

    getNextProbeMs() {
      const open = [...targets.values()].filter(({ breaker }) => breaker.state() === 'open')
      if (open.length === 0) return undefined
      return Math.min(...open.map(({ breaker }) => breaker.openUntil)) - now()
    },

    countPaused: () =>
      [...targets.values()].filter(({ breaker }) => breaker.state() !== 'closed').length,
  }
}

/** Returns how many more messages may be sent to a target. */
function calculateLimit({ inFlight, breaker }: Target): number {
  switch (breaker.state()) {
    case 'closed':
      return TARGET_CONCURRENCY - inFlight
    case 'half-open':
      return inFlight === 0 ? 1 : 0
    case 'open':
      return 0
  }
}
