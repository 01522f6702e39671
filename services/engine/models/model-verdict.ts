import type {
  ModelShadowComparison,
  ModelShadowReport,
  ModelShadowSide,
} from '@eyrie/contract/model-upgrade'
import { roundToHundredths } from '../statistics/round.ts'
import {
  formatTimes,
  hasCosts,
  isCostlier,
  MAX_OVER_BUDGET,
  MAX_SKIPPED,
  selectVerdict,
} from '../upgrade/verdict-rules.ts'

/** Models differ if they have less than this share of their objects in common. */
const MIN_AGREEMENT = 0.9
/** Models differ if the boxes of the objects in common overlap less, as intersection over union. */
const MIN_MEAN_IOU = 0.8
/**
 * Models differ if the numbers of objects that they find per frame differ by more than this factor
 * and by more than this number.
 */
const MIN_COUNT_RATIO = 1.1
const MIN_COUNT_DIFFERENCE = 0.05

type Judgement = Pick<ModelShadowReport, 'verdict' | 'findings'>

/** The active model, and the candidate that runs in shadow. */
export interface ComparedModels {
  active: { name: string; labels: readonly string[] }
  candidate: { name: string; labels: readonly string[] }
}

/** Describes what is notable about the comparison on one channel, one sentence per finding. */
type Examine = (models: ComparedModels, comparison: ModelShadowComparison) => string[]

/**
 * Describes in words (`findings`) how a model in shadow, the candidate, differs from the active
 * model, and decides whether it is worse (`verdict`).
 */
export function judgeModel(
  models: ComparedModels,
  { channels, load }: Pick<ModelShadowReport, 'channels' | 'load'>,
): Judgement {
  const onChannels = (examine: Examine) =>
    channels.flatMap(comparison =>
      examine(models, comparison).map(finding => `channel ${comparison.channel}: ${finding}`),
    )
  const overload = channels.some(hasCosts) ? describeOverload(models, load) : []
  const worse = [...onChannels(describeRegressions), ...overload]
  const different = [...describeLabels(models), ...onChannels(describeDifferences)]
  const notes = onChannels(describeLimits)
  return {
    verdict: selectVerdict(worse, different, channels),
    findings: [...worse, ...different, ...notes],
  }
}

const describeRegressions: Examine = (models, comparison) => {
  const { active, candidate, budget_ms: budgetMs } = comparison
  const findings: string[] = []
  if (candidate.failures > active.failures) {
    findings.push(
      `${models.candidate.name} has failed ${formatTimes(candidate.failures)} (${candidate.last_failure}), ` +
        `${models.active.name} ${formatTimes(active.failures)}`,
    )
  }
  const isNewlyOverBudget =
    candidate.over_budget > MAX_OVER_BUDGET && active.over_budget <= MAX_OVER_BUDGET
  if (isNewlyOverBudget && hasCosts(comparison)) {
    findings.push(
      `${models.candidate.name} takes longer than the ${budgetMs} ms between two frames ` +
        `in ${formatShare(candidate.over_budget)} of the frames ` +
        `(p50 ${candidate.cpu_ms?.p50} ms, p99 ${candidate.cpu_ms?.p99} ms)`,
    )
  }
  return findings
}

/**
 * Reports a candidate for which this machine has too few inference workers, unless the active model
 * has too few as well.
 */
function describeOverload(models: ComparedModels, load: ModelShadowReport['load']): string[] {
  const { workers, active, candidate } = load
  if (candidate <= workers || active > workers) return []
  return [
    `${models.candidate.name} would keep ${candidate} inference workers busy, but there are ${workers}; ` +
      `${models.active.name} keeps ${active} busy`,
  ]
}

/** Describes the classes that only one of the models knows. */
function describeLabels({ active, candidate }: ComparedModels): string[] {
  const missing = active.labels.filter(label => !candidate.labels.includes(label))
  const added = candidate.labels.filter(label => !active.labels.includes(label))
  const findings: string[] = []
  if (missing.length > 0) {
    findings.push(`${candidate.name} does not know the classes ${missing.join(', ')}`)
  }
  if (added.length > 0) {
    findings.push(`${candidate.name} has the additional classes ${added.join(', ')}`)
  }
  return findings
}

const describeDifferences: Examine = (models, comparison) => {
  const { active, candidate } = comparison
  const findings = [...describeAgreement(models, comparison), ...describeCounts(active, candidate)]
  const activeMs = active.cpu_ms?.mean
  const candidateMs = candidate.cpu_ms?.mean
  if (hasCosts(comparison) && isCostlier(activeMs, candidateMs)) {
    findings.push(
      `${models.candidate.name} needs ${candidateMs} ms of CPU time a frame, ${models.active.name} ${activeMs} ms`,
    )
  }
  return findings
}

function describeAgreement(
  { active, candidate }: ComparedModels,
  { agreement }: ModelShadowComparison,
): string[] {
  const {
    both,
    other_class: otherClass,
    active_only: activeOnly,
    candidate_only: candidateOnly,
    mean_iou: meanIou,
  } = agreement
  const total = both + otherClass + activeOnly + candidateOnly
  const toShare = (count: number) => formatShare(count / total)
  const findings: string[] = []
  if (both < total * MIN_AGREEMENT) {
    findings.push(
      `both find ${toShare(both)} of the objects; ${toShare(activeOnly)} are found only by ${active.name}, ` +
        `${toShare(candidateOnly)} only by ${candidate.name}, and ${toShare(otherClass)} as another class`,
    )
  }
  if (meanIou !== undefined && meanIou < MIN_MEAN_IOU) {
    findings.push(
      `the boxes of objects that both find have an intersection over union of ${meanIou}`,
    )
  }
  return findings
}

/** Describes the classes of which the candidate finds considerably more or fewer objects. */
function describeCounts(active: ModelShadowSide, candidate: ModelShadowSide): string[] {
  const classes = new Set([...Object.keys(active.objects), ...Object.keys(candidate.objects)])
  const findings: string[] = []
  for (const name of classes) {
    const activeCount = active.objects[name] ?? 0
    const candidateCount = candidate.objects[name] ?? 0
    const less = Math.min(activeCount, candidateCount)
    const more = Math.max(activeCount, candidateCount)
    if (more > less * MIN_COUNT_RATIO && more > less + MIN_COUNT_DIFFERENCE) {
      findings.push(`${candidateCount} ${name} per frame instead of ${activeCount}`)
    }
  }
  return findings
}

/** Describes why the comparison is limited. This does not affect the verdict. */
const describeLimits: Examine = ({ candidate }, { frames, skipped, problem }) => {
  const offered = frames + skipped
  const notes: string[] = []
  if (problem !== undefined) notes.push(`${candidate.name} does not run here: ${problem}`)
  if (skipped > offered * MAX_SKIPPED) {
    notes.push(`${candidate.name} has skipped ${skipped} of ${offered} frames`)
  }
  return notes
}

const formatShare = (share: number) => `${Math.round(share * 100)} %`

/**
 * Computes how many of the inference workers each model keeps busy if it runs on all frames of
 * the compared channels.
 */
export function computeLoad(
  workers: number,
  comparisons: readonly ModelShadowComparison[],
): ModelShadowReport['load'] {
  const sumLoad = (side: 'active' | 'candidate') => {
    let load = 0
    for (const comparison of comparisons) {
      const { cpu_ms: cpuMs } = comparison[side]
      // Before the second frame, the time between two frames is unknown.
      if (comparison.budget_ms && cpuMs) load += cpuMs.mean / comparison.budget_ms
    }
    return roundToHundredths(load)
  }
  return { workers, active: sumLoad('active'), candidate: sumLoad('candidate') }
}
