import { isDeepStrictEqual } from 'node:util'
import type { ShadowComparison, ShadowReport, ShadowSide } from '@eyrie/contract/plugin-upgrade'
import {
  formatTimes,
  hasCosts,
  isCostlier,
  MAX_OVER_BUDGET,
  MAX_SKIPPED,
  selectVerdict,
} from '../../upgrade/verdict-rules.ts'

type Judgement = Pick<ShadowReport, 'verdict' | 'findings'>
/** The numbers of the active version and of the version in shadow (`version`). */
type Versions = Pick<ShadowReport, 'active' | 'version'>

/**
 * Describes in words (`findings`) how a version of a plugin in shadow differs from the active
 * version, and decides whether it is worse (`verdict`). There is a comparison for each of its
 * elements on each channel.
 */
export function judgeShadow(
  versions: Versions,
  comparisons: readonly ShadowComparison[],
): Judgement {
  const findIn = (find: FindInComparison) =>
    comparisons.flatMap(comparison => {
      const { element, channel } = comparison
      return find(versions, comparison).map(
        finding => `${element} on channel ${channel}: ${finding}`,
      )
    })
  const worse = findIn(findRegressions)
  const different = findIn(findDifferences)
  return {
    verdict: selectVerdict(worse, different, comparisons),
    findings: [...worse, ...different, ...findIn(findNotes)],
  }
}

/** Returns findings about one comparison. */
type FindInComparison = (versions: Versions, comparison: ShadowComparison) => string[]

const findRegressions: FindInComparison = (versions, comparison) => {
  const { active, shadow, frames } = comparison
  const findings: string[] = []
  if (shadow.failures > active.failures) {
    findings.push(
      `${versions.version} has failed ${formatTimes(shadow.failures)} (${shadow.last_failure}), ` +
        `${versions.active} ${formatTimes(active.failures)}`,
    )
  }
  const isOverBudget = ({ over_budget }: ShadowSide) => over_budget > frames * MAX_OVER_BUDGET
  if (hasCosts(comparison) && isOverBudget(shadow) && !isOverBudget(active)) {
    findings.push(
      `${versions.version} exceeds its budget of ${shadow.budget_ms} ms in ${shadow.over_budget} of ${frames} frames`,
    )
  }
  return findings
}

const findDifferences: FindInComparison = (versions, comparison) => {
  const { active, shadow, frames, different_frames } = comparison
  const findings = findOtherEvents(active, shadow)
  if (different_frames.events > 0) {
    findings.push(`other events in ${different_frames.events} of ${frames} frames`)
  }
  if (different_frames.objects > 0) {
    findings.push(
      `another number of objects in ${different_frames.objects} of ${frames} frames ` +
        `(${shadow.objects} instead of ${active.objects})`,
    )
  }
  findings.push(...findOtherCounters(active, shadow))

  const activeMs = active.cpu_ms?.mean
  const shadowMs = shadow.cpu_ms?.mean
  if (hasCosts(comparison) && isCostlier(activeMs, shadowMs)) {
    findings.push(
      `${versions.version} needs ${shadowMs} ms of CPU time a frame, ${versions.active} ${activeMs} ms`,
    )
  }
  return findings
}

/** Finds the types of events that the two versions report in different numbers. */
function findOtherEvents(active: ShadowSide, shadow: ShadowSide): string[] {
  const types = new Set([...Object.keys(active.events), ...Object.keys(shadow.events)])
  const findings: string[] = []
  for (const type of [...types].sort()) {
    const activeCount = active.events[type] ?? 0
    const shadowCount = shadow.events[type] ?? 0
    if (activeCount !== shadowCount) {
      findings.push(`${shadowCount} events ${type} instead of ${activeCount}`)
    }
  }
  return findings
}

function findOtherCounters(active: ShadowSide, shadow: ShadowSide): string[] {
  const names = new Set([...Object.keys(active.counters), ...Object.keys(shadow.counters)])
  const findings: string[] = []
  for (const name of names) {
    const activeChange = active.counters[name] ?? {}
    const shadowChange = shadow.counters[name] ?? {}
    if (!isDeepStrictEqual(activeChange, shadowChange)) {
      findings.push(
        `counter ${name} has changed by ${formatCounter(shadowChange)} instead of ${formatCounter(activeChange)}`,
      )
    }
  }
  return findings
}

function formatCounter(counter: Record<string, number>): string {
  const changes = Object.entries(counter).map(([key, change]) => `${key} ${change}`)
  return changes.join(', ') || '0'
}

/** Notes do not affect the verdict: they say why the comparison is limited. */
const findNotes: FindInComparison = ({ version }, { frames, skipped, starved, problem }) => {
  const offered = frames + skipped
  const notes: string[] = []
  if (problem !== undefined) notes.push(`${version} does not run in shadow: ${problem}`)
  if (skipped > offered * MAX_SKIPPED) {
    const cause = starved ? 'the machine was too busy: ' : ''
    notes.push(
      `${cause}${version} has processed ${frames} of ${offered} frames, so that its results may differ`,
    )
  }
  return notes
}
