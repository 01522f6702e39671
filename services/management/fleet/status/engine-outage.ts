import type { EngineOutage } from '@eyrie/contract'
import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import type { EngineFailure } from './engine-failure.ts'

/** Tracks since when and why an engine cannot be used. */
export interface OutageTracker {
  /**
   * Records a failed attempt or a lost connection. `lastResponseAt` is when the engine last
   * answered, if it ever has.
   */
  recordFailure(failure: EngineFailure, lastResponseAt: Date | null): void
  recordConnected(): void
  /** Returns the outage once it has lasted for the grace time. */
  current(engine: Pick<EngineOutage, 'engine_id' | 'engine_name'>): EngineOutage | undefined
}

/**
 * Creates a tracker. Outages that are shorter than `graceMs`, such as a restart of the
 * engine, are not reported.
 */
export function createOutageTracker(graceMs: number, nowMs = Date.now): OutageTracker {
  /** `since` is when the engine last answered. The grace time begins with the first failure. */
  let outage: { failure: EngineFailure; since: Date; firstFailureMs: number } | undefined

  return {
    recordFailure(failure, lastResponseAt) {
      if (outage) outage = { ...outage, failure }
      else outage = { failure, since: lastResponseAt ?? new Date(nowMs()), firstFailureMs: nowMs() }
    },
    recordConnected() {
      outage = undefined
    },
    current(engine) {
      if (!outage || nowMs() - outage.firstFailureMs < graceMs) return undefined
      const { failure, since } = outage
      return {
        ...engine,
        status: failure.status === ENGINE_STATUS.offline ? 'offline' : 'error',
        since: since.toISOString(),
        reason: failure.reason,
      }
    },
  }
}

/** Describes an outage in one line, for the operator of the appliance. */
export function describeOutage({
  engine_name: engineName,
  status,
  since,
  reason,
}: EngineOutage): string {
  // Shortens `2026-03-04T12:00:00.000Z` to `2026-03-04 12:00:00 UTC`.
  const time = `${since.slice(0, 19).replace('T', ' ')} UTC`
  return status === 'offline'
    ? `engine ${engineName} has been offline since ${time}: ${reason}: check that it runs, and the network to it`
    : `engine ${engineName} has been unusable since ${time}: ${reason}`
}
