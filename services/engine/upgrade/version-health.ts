/** The health of a version covers this time. Older failures do not count. */
export const HEALTH_PERIOD_MS = 10 * 60_000
/**
 * Maximum number of outages that are stored for each version. A version that always fails has
 * one every few seconds.
 */
const MAX_OUTAGES = 1000

/**
 * A failure of an element on a channel, or the end of its outage. The element runs a version of a
 * plugin or a model.
 */
export interface VersionOutcome {
  /** Name of the plugin or model. */
  name: string
  version: string
  channel: number
  element: string
  /** Why it has failed; undefined if it processes frames again, or has ended. */
  failure: string | undefined
}

/** A period in which an element processed no frames on a channel. Times are in epoch ms. */
interface Outage {
  channel: number
  element: string
  /** The reason of the last failure. */
  reason: string
  from: number
  /** Undefined while the outage lasts. */
  until: number | undefined
  /** Number of failures: the first one, and failed attempts to continue. */
  failures: number
}

/** How much a version has failed within a period. */
export interface HealthSummary {
  failures: number
  /** Sum of the times in which elements of the version processed no frames. */
  failedMs: number
  /** Length of the period. */
  observedMs: number
  /** Ids of the channels on which it has failed, in ascending order. */
  channels: number[]
  lastReason: string | undefined
}

/** Records the outages of the elements that run a version of a plugin or a model. */
export class VersionHealth {
  readonly #now: () => number
  /** By name and version, oldest first. */
  readonly #outages = new Map<string, Outage[]>()
  /** When the engine started, in epoch ms. */
  readonly #startedAt: number

  constructor(now: () => number = Date.now) {
    this.#now = now
    this.#startedAt = now()
  }

  /**
   * Starts an outage, counts a further failure in the current one, or ends it. A failure also
   * deletes the outages that are too old to count.
   */
  record({ name, version, channel, element, failure }: VersionOutcome): void {
    const now = this.#now()
    const key = toKey(name, version)
    const outages = this.#outages.get(key) ?? []
    const current = outages.find(
      outage =>
        outage.until === undefined && outage.channel === channel && outage.element === element,
    )

    if (failure === undefined) {
      if (current) current.until = now
      return
    }

    if (current) {
      current.reason = failure
      current.failures += 1
    } else {
      outages.push({ channel, element, reason: failure, from: now, until: undefined, failures: 1 })
    }
    const recent = outages.filter(({ until = now }) => until > now - HEALTH_PERIOD_MS)
    this.#outages.set(key, recent.slice(-MAX_OUTAGES))
  }

  /**
   * Summarizes the failures since `from` (epoch ms), but at most those of the last ten minutes. The
   * observed period starts no earlier than the engine.
   */
  summarize(name: string, version: string, from: number): HealthSummary {
    const now = this.#now()
    const start = Math.max(from, now - HEALTH_PERIOD_MS, this.#startedAt)
    const stored = this.#outages.get(toKey(name, version)) ?? []
    const outages = stored.filter(({ until = now }) => until >= start)
    let failures = 0
    let failedMs = 0
    for (const outage of outages) {
      failures += outage.failures
      failedMs += (outage.until ?? now) - Math.max(outage.from, start)
    }
    return {
      failures,
      failedMs,
      observedMs: now - start,
      channels: [...new Set(outages.map(({ channel }) => channel))].sort((a, b) => a - b),
      lastReason: outages.at(-1)?.reason,
    }
  }
}

const toKey = (name: string, version: string) => `${name}@${version}`
