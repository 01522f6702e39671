/** Failures before this time do not count any more. */
export const HEALTH_PERIOD_MS = 10 * 60_000
/** A version that always fails does so every few seconds at most. */
const MAX_OUTAGES = 1000

/** An element that runs a version of a plugin, or of a model, has failed on a channel, or processes frames again. */
export interface VersionOutcome {
  /** Name of the plugin or model. */
  name: string
  version: string
  channel: number
  element: string
  /** Why it has failed; undefined if it processes frames again, or has ended. */
  failure: string | undefined
}

/** A time in which an element of a version did not process frames on a channel. */
interface Outage {
  channel: number
  element: string
  reason: string
  from: number
  /** Undefined while it lasts. */
  until: number | undefined
  failures: number
}

/** How much a version has failed within a time. */
export interface HealthSummary {
  failures: number
  /** Sum of the times in which its elements did not process frames, in ms. */
  failedMs: number
  /** The time, in ms. */
  observedMs: number
  channels: number[]
  lastReason: string | undefined
}

/** Remembers when the elements that run each version of a plugin or model have failed. */
export class VersionHealth {
  readonly #now: () => number
  readonly #outages = new Map<string, Outage[]>()
  readonly #startedAt: number

  constructor(now: () => number = Date.now) {
    this.#now = now
    this.#startedAt = now()
  }

  record({ name, version, channel, element, failure }: VersionOutcome): void {
    const now = this.#now()
    const key = `${name}@${version}`
    const outages = this.#outages.get(key) ?? []
    const current = outages.find(
      outage => outage.until === undefined && outage.channel === channel && outage.element === element,
    )
    if (failure === undefined) {
      if (current) current.until = now
      return
    }
    if (current) Object.assign(current, { reason: failure, failures: current.failures + 1 })
    else outages.push({ channel, element, reason: failure, from: now, until: undefined, failures: 1 })
    const recent = outages.filter(({ until }) => until === undefined || until > now - HEALTH_PERIOD_MS)
    this.#outages.set(key, recent.slice(-MAX_OUTAGES))
  }

  /** Summarizes the failures since `from`, a time in ms, but no more than the last ten minutes. */
  summarize(name: string, version: string, from: number): HealthSummary {
    const now = this.#now()
    const start = Math.max(from, now - HEALTH_PERIOD_MS, this.#startedAt)
    const outages = (this.#outages.get(`${name}@${version}`) ?? []).filter(
      ({ until = now }) => until >= start,
    )
    return {
      failures: outages.reduce((sum, { failures }) => sum + failures, 0),
      failedMs: outages.reduce((sum, { from, until = now }) => sum + until - Math.max(from, start), 0),
      observedMs: now - start,
      channels: [...new Set(outages.map(({ channel }) => channel))].sort((a, b) => a - b),
      lastReason: outages.at(-1)?.reason,
    }
  }
}
