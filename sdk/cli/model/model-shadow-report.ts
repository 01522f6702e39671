import type { ModelShadowComparison, ModelShadowReport, ModelShadowSide } from '@eyrie/contract'
import { type Output, writeTable } from '../command/terminal.ts'
import { printVerdict } from '../engine/shadow-run.ts'

/**
 * Prints how the active model of a pipeline and a candidate, which runs in shadow
 * without any effect, differ.
 */

const HEADER = [
  'CHANNEL',
  'MODEL',
  'FRAMES',
  'FAILURES',
  'CPU MS P50',
  'P99',
  'BUDGET',
  'OBJECTS PER FRAME',
  'FOUND BY BOTH',
  'IOU',
]

/** Prints a table with both models on each channel, the load, the verdict and the findings. */
export function printModelReport(report: ModelShadowReport, out: Output): void {
  const { active, candidate, channels, load } = report
  writeTable(out, [HEADER, ...channels.flatMap(comparison => createRows(comparison, report))])
  out.write(
    `inference workers: ${load.workers}, ${active} uses ${load.active}, ${candidate} ${load.candidate}\n`,
  )
  printVerdict(report, { name: candidate, sameText: 'finds the same' }, out)
}

/**
 * Creates the rows of a channel: the active model, with how both models agree, and
 * the candidate below.
 */
function createRows(
  { channel, frames, budget_ms: budgetMs, agreement, ...sides }: ModelShadowComparison,
  { active, candidate }: ModelShadowReport,
): string[][] {
  const {
    both,
    other_class: otherClass,
    active_only: activeOnly,
    candidate_only: candidateOnly,
    mean_iou: meanIou,
  } = agreement
  const total = both + otherClass + activeOnly + candidateOnly
  const foundByBoth = total > 0 ? formatShare(both / total) : ''
  const frameCount = String(frames)
  const activeCells = formatSide(sides.active, budgetMs)
  const candidateCells = formatSide(sides.candidate, budgetMs)
  return [
    [String(channel), active, frameCount, ...activeCells, foundByBoth, String(meanIou ?? '')],
    ['', candidate, frameCount, ...candidateCells, '', ''],
  ]
}

/** Formats the cells from FAILURES to OBJECTS PER FRAME. */
function formatSide(
  { failures, cpu_ms: cpuMs, over_budget: overBudget, objects }: ModelShadowSide,
  budgetMs: number | undefined,
): string[] {
  const budget =
    budgetMs === undefined ? '' : `${budgetMs} ms, exceeded in ${formatShare(overBudget)}`
  const counted = Object.entries(objects).map(([name, count]) => `${name} ${count}`)
  return [
    String(failures),
    cpuMs ? String(cpuMs.p50) : '',
    cpuMs ? String(cpuMs.p99) : '',
    budget,
    counted.join(', '),
  ]
}

const formatShare = (share: number) => `${Math.round(share * 100)} %`
