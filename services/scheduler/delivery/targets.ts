import type { Outcome } from '../senders/sender.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'

/** Maximum number of messages that are being sent to one target. */
export const TARGET_CONCURRENCY = 16
/** Time after which a target without messages is forgotten. */
const IDLE_MS = 3_600_000

/** The targets that receive messages, each with its own limit, so that a slow or dead one delays no other. */
export interface Targets {
  begin(target: string): void
  /** Records the outcome of an attempt. Returns whether the target has begun to count as down. */
  finish(target: string, outcome: Outcome): boolean
  /** How many more messages can be sent to each target; targets that are not listed take `TARGET_CONCURRENCY`. */
  limits(): Record<string, number>
  /** The time until a target that is down is tried again, in ms. Undefined if there is none. */
  nextProbeMs(): number | undefined
  /** Number of targets that are down. */
  countDown(): number
}

interface Target {
  inFlight: number
  /** Epoch ms. */
  usedAt: number
  breaker: CircuitBreaker
}

/** `now` returns epoch ms. */
export function createTargets(now: () => number, random?: () => number): Targets {
  const targets = new Map<string, Target>()

  function getLimit({ inFlight, breaker }: Target): number {
    const state = breaker.state()
    if (state === 'closed') return TARGET_CONCURRENCY - inFlight
    return state === 'half-open' && inFlight === 0 ? 1 : 0
  }

  function removeIdle() {
    for (const [name, { inFlight, usedAt }] of targets)
      if (inFlight === 0 && now() - usedAt > IDLE_MS) targets.delete(name)
  }

  return {
    begin(name) {
      const target = targets.get(name) ?? {
        inFlight: 0,
        usedAt: 0,
        breaker: createCircuitBreaker(now, random),
      }
      target.inFlight += 1
      target.usedAt = now()
      targets.set(name, target)
    },
    finish(name, outcome) {
      const target = targets.get(name)!
      target.inFlight -= 1
      const { breaker } = target
      const wasClosed = breaker.state() === 'closed'
      if (outcome.state === 'failed' && outcome.isTargetDown) {
        breaker.recordFailure()
        return wasClosed && breaker.state() !== 'closed'
      }
      breaker.recordSuccess()
      if (target.inFlight === 0) targets.delete(name)
      return false
    },
    limits() {
      removeIdle()
      return Object.fromEntries(Array.from(targets, ([name, target]) => [name, getLimit(target)]))
    },
    nextProbeMs() {
      const open = [...targets.values()].filter(({ breaker }) => breaker.state() === 'open')
      if (open.length === 0) return undefined
      return Math.min(...open.map(({ breaker }) => breaker.openUntil)) - now()
    },
    countDown: () => [...targets.values()].filter(({ breaker }) => breaker.state() !== 'closed').length,
  }
}
