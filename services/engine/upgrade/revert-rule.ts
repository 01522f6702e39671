import { formatTimes } from './verdict-rules.ts'
import { HEALTH_PERIOD_MS, type HealthSummary, type VersionHealth } from './version-health.ts'

/**
 * Decides when the engine reverts a switch. After a switch to another version of a plugin, or to
 * another model, the engine watches how much the new version fails. It switches back if the new
 * version fails more than the previous one did.
 */

/**
 * A version that fails less often is not replaced: single failures can have any cause, such as a
 * camera that is restarted.
 */
const MIN_FAILURES = 3
/** The new version must fail for a share of the time that is larger by this factor. */
const MIN_RATIO = 1.2

/** How much the previous version had failed before the switch. */
export type HealthBefore = Pick<HealthSummary, 'failures' | 'failedMs' | 'observedMs'>

/** A switch that the engine watches. */
export interface WatchedSwitch {
  from: string
  to: string
  /** Time of the switch in epoch ms. */
  since: number
  before: HealthBefore
}

/** Returns how much a version has failed in the last ten minutes. Called before it is replaced. */
export function summarizeBefore(
  health: Pick<VersionHealth, 'summarize'>,
  { name, version }: { name: string; version: string },
): HealthBefore {
  const { failures, failedMs, observedMs } = health.summarize(name, version, 0)
  return { failures, failedMs, observedMs }
}

/** The active version of a plugin or model, and the switch to it. */
export interface ActiveVersion {
  /** Name of the plugin or model. */
  name: string
  active: string | undefined
  watch: WatchedSwitch
}

/**
 * Returns why the engine must switch back from the active version; undefined if it need not. It
 * never switches back later than ten minutes after the switch, or after a further switch.
 */
export function findRevertReason(
  health: Pick<VersionHealth, 'summarize'>,
  { name, active, watch }: ActiveVersion,
): string | undefined {
  const isWatchOver = Date.now() > watch.since + HEALTH_PERIOD_MS
  if (active !== watch.to || isWatchOver) return undefined
  const after = health.summarize(name, watch.to, watch.since)
  return failsMore(watch.before, after) ? describeRevert(watch, after) : undefined
}

/**
 * Whether a version fails more than the previous one: at least three times, and for a larger share
 * of the time. The numbers of failures are not compared. A failed element is opened again with
 * increasing delays, so few failures can be a long outage.
 */
export function failsMore(before: HealthBefore, after: HealthSummary): boolean {
  return after.failures >= MIN_FAILURES && toFailedShare(after) > toFailedShare(before) * MIN_RATIO
}

const toFailedShare = ({ failedMs, observedMs }: HealthBefore) => failedMs / Math.max(observedMs, 1)

/** Describes the failures of both versions, as the reason to switch back. */
export function describeRevert(
  { from, to, before }: Pick<WatchedSwitch, 'from' | 'to' | 'before'>,
  after: HealthSummary,
): string {
  const { failures, channels, lastReason } = after
  const seconds = Math.ceil(after.observedMs / 1000)
  const place = `${channels.length === 1 ? 'channel' : 'channels'} ${channels.join(', ')}`
  const earlier =
    before.failures === 0 ? 'had not failed' : `had failed ${formatTimes(before.failures)}`
  const minutes = Math.round(before.observedMs / 60_000) || '<1'
  return (
    `${to} has failed ${failures} times within ${seconds} s on ${place} (${lastReason}); ` +
    `${from} ${earlier} in the ${minutes} min before`
  )
}
