import { HEALTH_PERIOD_MS, type HealthSummary, type VersionHealth } from './version-health.ts'

/** A few failures can have any cause, such as a camera that is restarted. */
const MIN_FAILURES = 3
/** A version that fails as much as the one before is no worse. */
const MIN_RATIO = 1.2

/** How much the version before a switch had failed. */
export type HealthBefore = Pick<HealthSummary, 'failures' | 'failedMs' | 'observedMs'>

/**
 * Whether a version fails more than the one before the switch: at least three times, and for a larger share of the time. Shares
 * are compared because failed elements are opened again with increasing delays, so that few failures can be a long outage.
 */
export function failsMore(before: HealthBefore, after: HealthSummary): boolean {
  return after.failures >= MIN_FAILURES && toShare(after) > toShare(before) * MIN_RATIO
}

const toShare = ({ failedMs, observedMs }: HealthBefore) => failedMs / Math.max(observedMs, 1)

/** A switch after which the engine compares how much the version before and the new one fail. */
export interface WatchedSwitch {
  from: string
  to: string
  /** Time of the switch in ms. */
  since: number
  before: HealthBefore
}

/** Returns how much a version has failed before it is replaced. */
export function summarizeBefore(
  health: Pick<VersionHealth, 'summarize'>,
  name: string,
  version: string,
): HealthBefore {
  const { failures, failedMs, observedMs } = health.summarize(name, version, 0)
  return { failures, failedMs, observedMs }
}

/** Returns why the engine must switch back from the active version; undefined if it need not, or does not watch the switch any more. */
export function findRevertReason(
  name: string,
  active: string | undefined,
  watch: WatchedSwitch | undefined,
  health: Pick<VersionHealth, 'summarize'>,
): string | undefined {
  if (!watch || Date.now() > watch.since + HEALTH_PERIOD_MS || active !== watch.to) return undefined
  const after = health.summarize(name, watch.to, watch.since)
  return failsMore(watch.before, after) ? describeRevert(watch, watch.before, after) : undefined
}

/** Says in words why a version is reverted. */
export function describeRevert(
  versions: { from: string; to: string },
  before: HealthBefore,
  after: HealthSummary,
): string {
  const seconds = Math.ceil(after.observedMs / 1000)
  const channels = `channel${after.channels.length === 1 ? '' : 's'} ${after.channels.join(', ')}`
  const earlier = before.failures === 0 ? 'had not failed' : `had failed ${before.failures} times`
  return `${versions.to} has failed ${after.failures} times within ${seconds} s on ${channels} (${after.lastReason}); ${versions.from} ${earlier} in the ${Math.round(before.observedMs / 60_000) || '<1'} min before`
}
