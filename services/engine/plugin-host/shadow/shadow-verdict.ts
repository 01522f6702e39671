import { isDeepStrictEqual } from 'node:util'
import type { ShadowComparison, ShadowReport, ShadowSide } from '@eyrie/contract/plugin-upgrade'
import {
  formatTimes,
  isCostlier,
  MAX_OVER_BUDGET,
  MAX_SKIPPED,
  selectVerdict,
} from '../../upgrade/verdict-rules.ts'

type Judgement = Pick<ShadowReport, 'verdict' | 'findings'>
type Versions = Pick<ShadowReport, 'active' | 'version'>

/** Says in words how a version in shadow differs from the active one, and whether it is worse. */
export function judgeShadow(versions: Versions, comparisons: readonly ShadowComparison[]): Judgement {
  const worse = comparisons.flatMap(comparison => findWorse(versions, comparison))
  const different = comparisons.flatMap(comparison => findDifferences(versions, comparison))
  const notes = comparisons.flatMap(comparison => findNotes(versions, comparison))
  return {
    verdict: selectVerdict(worse, different, comparisons),
    findings: [...worse, ...different, ...notes],
  }
}

const labelOf = ({ element, channel }: ShadowComparison) => `${element} on channel ${channel}`

function findWorse({ active, version }: Versions, comparison: ShadowComparison): string[] {
  const label = labelOf(comparison)
  const before = comparison.active
  const after = comparison.shadow
  const findings: string[] = []
  if (after.failures > before.failures)
    findings.push(
      `${label}: ${version} has failed ${formatTimes(after.failures)} (${after.last_failure}), ${active} ${formatTimes(before.failures)}`,
    )
  const isOverBudget = (side: ShadowSide) => side.over_budget > comparison.frames * MAX_OVER_BUDGET
  if (isOverBudget(after) && !isOverBudget(before))
    findings.push(
      `${label}: ${version} exceeds its budget of ${after.budget_ms} ms in ${after.over_budget} of ${comparison.frames} frames`,
    )
  return findings
}

function findDifferences({ active, version }: Versions, comparison: ShadowComparison): string[] {
  const label = labelOf(comparison)
  const before = comparison.active
  const after = comparison.shadow
  const findings: string[] = []
  const types = [...new Set([...Object.keys(before.events), ...Object.keys(after.events)])].sort()
  for (const type of types) {
    const [old = 0, next = 0] = [before.events[type], after.events[type]]
    if (old !== next) findings.push(`${label}: ${next} events ${type} instead of ${old}`)
  }
  const { objects, events } = comparison.different_frames
  if (events > 0) findings.push(`${label}: other events in ${events} of ${comparison.frames} frames`)
  if (objects > 0)
    findings.push(
      `${label}: another number of objects in ${objects} of ${comparison.frames} frames (${after.objects} instead of ${before.objects})`,
    )
  for (const name of new Set([...Object.keys(before.counters), ...Object.keys(after.counters)])) {
    const [old = {}, next = {}] = [before.counters[name], after.counters[name]]
    if (!isDeepStrictEqual(old, next))
      findings.push(
        `${label}: counter ${name} has changed by ${formatCounter(next)} instead of ${formatCounter(old)}`,
      )
  }
  const [old, next] = [before.cpu_ms?.mean, after.cpu_ms?.mean]
  if (isCostlier(old, next))
    findings.push(`${label}: ${version} needs ${next} ms of CPU time a frame, ${active} ${old} ms`)
  return findings
}

function findNotes({ version }: Versions, comparison: ShadowComparison): string[] {
  const { frames, skipped, starved, problem } = comparison
  const label = labelOf(comparison)
  const isIncomplete = skipped > (frames + skipped) * MAX_SKIPPED
  const processed = `${version} has processed ${frames} of ${frames + skipped} frames`
  return [
    ...(problem === undefined ? [] : [`${label}: ${version} does not run in shadow: ${problem}`]),
    ...(isIncomplete
      ? [
          `${label}: ${starved ? 'the machine was too busy: ' : ''}${processed}, so that its results may differ`,
        ]
      : []),
  ]
}

const formatCounter = (counter: Record<string, number>) =>
  Object.entries(counter)
    .map(([key, value]) => `${key} ${value}`)
    .join(', ') || '0'
