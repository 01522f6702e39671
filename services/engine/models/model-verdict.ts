import type { ModelShadowComparison, ModelShadowReport } from '@eyrie/contract/model-upgrade'
import {
  formatTimes,
  isCostlier,
  MAX_OVER_BUDGET,
  MAX_SKIPPED,
  selectVerdict,
} from '../upgrade/verdict-rules.ts'

/** Models whose objects agree less find other objects. */
const MIN_AGREEMENT = 0.9
/** Boxes that overlap less are boxes of another shape or place. */
const MIN_MEAN_IOU = 0.8
/** Differences of the number of objects per frame below both of these are noise. */
const MIN_OBJECT_RATIO = 1.1
const MIN_OBJECT_DIFFERENCE = 0.05

type Judgement = Pick<ModelShadowReport, 'verdict' | 'findings'>

/** What is compared: the names and the classes of both models. */
export interface ComparedModels {
  active: { name: string; labels: readonly string[] }
  candidate: { name: string; labels: readonly string[] }
}

/** Computes how many inference workers each model keeps busy with all frames of the compared channels. */
export function computeLoad(
  workers: number,
  comparisons: readonly ModelShadowComparison[],
): ModelShadowReport['load'] {
  const sum = (side: 'active' | 'candidate') => {
    const shares = comparisons.map(comparison => {
      const { budget_ms } = comparison
      return budget_ms ? (comparison[side].cpu_ms?.mean ?? 0) / budget_ms : 0
    })
    return Math.round(shares.reduce((total, share) => total + share, 0) * 100) / 100
  }
  return { workers, active: sum('active'), candidate: sum('candidate') }
}

/** Says in words how a model in shadow differs from the active one, and whether it is worse. */
export function judgeModel(
  models: ComparedModels,
  { channels, load }: Pick<ModelShadowReport, 'channels' | 'load'>,
): Judgement {
  const worse = [
    ...channels.flatMap(comparison => findWorse(models, comparison)),
    ...findOverload(models, load),
  ]
  const different = [
    ...findOtherClasses(models),
    ...channels.flatMap(comparison => findDifferences(models, comparison)),
  ]
  const notes = channels.flatMap(comparison => findNotes(models, comparison))
  return {
    verdict: selectVerdict(worse, different, channels),
    findings: [...worse, ...different, ...notes],
  }
}

function findWorse({ active, candidate }: ComparedModels, comparison: ModelShadowComparison): string[] {
  const label = `channel ${comparison.channel}`
  const before = comparison.active
  const after = comparison.candidate
  const findings: string[] = []
  if (after.failures > before.failures)
    findings.push(
      `${label}: ${candidate.name} has failed ${formatTimes(after.failures)} (${after.last_failure}), ${active.name} ${formatTimes(before.failures)}`,
    )
  if (after.over_budget > MAX_OVER_BUDGET && before.over_budget <= MAX_OVER_BUDGET)
    findings.push(
      `${label}: ${candidate.name} takes longer than the ${comparison.budget_ms} ms between two frames in ${formatShare(after.over_budget)} of the frames (p50 ${after.cpu_ms?.p50} ms, p99 ${after.cpu_ms?.p99} ms)`,
    )
  return findings
}

function findOverload(
  { active, candidate }: ComparedModels,
  { workers, active: before, candidate: after }: ModelShadowReport['load'],
): string[] {
  if (after <= workers || before > workers) return []
  return [
    `${candidate.name} would keep ${after} inference workers busy, but there are ${workers}; ${active.name} keeps ${before} busy`,
  ]
}

function findOtherClasses({ active, candidate }: ComparedModels): string[] {
  const missing = active.labels.filter(label => !candidate.labels.includes(label))
  const added = candidate.labels.filter(label => !active.labels.includes(label))
  return [
    ...(missing.length > 0 ? [`${candidate.name} does not know the classes ${missing.join(', ')}`] : []),
    ...(added.length > 0 ? [`${candidate.name} has the additional classes ${added.join(', ')}`] : []),
  ]
}

function findDifferences(models: ComparedModels, comparison: ModelShadowComparison): string[] {
  const label = `channel ${comparison.channel}`
  const before = comparison.active
  const after = comparison.candidate
  const findings = [...describeAgreement(models, comparison)]
  for (const name of new Set([...Object.keys(before.objects), ...Object.keys(after.objects)])) {
    const [old = 0, next = 0] = [before.objects[name], after.objects[name]]
    const [less, more] = old < next ? [old, next] : [next, old]
    if (more > less * MIN_OBJECT_RATIO && more > less + MIN_OBJECT_DIFFERENCE)
      findings.push(`${label}: ${next} ${name} per frame instead of ${old}`)
  }
  const [old, next] = [before.cpu_ms?.mean, after.cpu_ms?.mean]
  if (isCostlier(old, next))
    findings.push(
      `${label}: ${models.candidate.name} needs ${next} ms of CPU time a frame, ${models.active.name} ${old} ms`,
    )
  return findings
}

function describeAgreement(
  { active, candidate }: ComparedModels,
  { channel, agreement }: ModelShadowComparison,
): string[] {
  const { both, other_class, active_only, candidate_only, mean_iou } = agreement
  const total = both + other_class + active_only + candidate_only
  const findings: string[] = []
  if (both < total * MIN_AGREEMENT) {
    const toShare = (count: number) => formatShare(count / total)
    findings.push(
      `channel ${channel}: both find ${toShare(both)} of the objects; ${toShare(active_only)} are found only by ${active.name}, ${toShare(candidate_only)} only by ${candidate.name}, and ${toShare(other_class)} as another class`,
    )
  }
  if (mean_iou !== undefined && mean_iou < MIN_MEAN_IOU)
    findings.push(
      `channel ${channel}: the boxes of objects that both find have an intersection over union of ${mean_iou}`,
    )
  return findings
}

/** Returns what is worth knowing, but no difference. */
function findNotes({ candidate }: ComparedModels, comparison: ModelShadowComparison): string[] {
  const { channel, frames, skipped, problem } = comparison
  return [
    ...(problem !== undefined ? [`channel ${channel}: ${candidate.name} does not run here: ${problem}`] : []),
    ...(skipped > (frames + skipped) * MAX_SKIPPED
      ? [`channel ${channel}: ${candidate.name} has skipped ${skipped} of ${frames + skipped} frames`]
      : []),
  ]
}

const formatShare = (share: number) => `${Math.round(share * 100)} %`
