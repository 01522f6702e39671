import type { ModelShadowComparison, ModelShadowReport, ModelShadowSide } from '@eyrie/contract'
import { type Output, writeTable } from '../command/terminal.ts'
import { printVerdict } from '../engine/shadow-run.ts'

/**
 * Prints how two models differ: the active model of a pipeline, and a candidate that runs in
 * shadow, on the same frames but without any effect.
 */

/**
 * The cells of `createRows`. Those from FAILURES to OBJECTS PER FRAME are the cells of
 * `formatSide`.
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
 * Creates the two rows of a channel. The first row is about the active model, and contains how both
 * models agree. The second row is about the candidate.
 */
function createRows(comparison: ModelShadowComparison, report: ModelShadowReport): string[][] {
  const { channel, budget_ms, agreement } = comparison
  const frames = String(comparison.frames)
  const activeCells = formatSide(comparison.active, budget_ms)
  const candidateCells = formatSide(comparison.candidate, budget_ms)
  return [
    [String(channel), report.active, frames, ...activeCells, ...formatAgreement(agreement)],
    ['', report.candidate, frames, ...candidateCells, '', ''],
  ]
}

/** Formats the cells from FAILURES to OBJECTS PER FRAME. */
function formatSide(side: ModelShadowSide, budgetMs: number | undefined): string[] {
  const { failures, cpu_ms, over_budget } = side
  const budget =
    budgetMs === undefined ? '' : `${budgetMs} ms, exceeded in ${formatShare(over_budget)}`
  const objects = Object.entries(side.objects).map(([name, count]) => `${name} ${count}`)
  return [
    String(failures),
    cpu_ms ? String(cpu_ms.p50) : '',
    cpu_ms ? String(cpu_ms.p99) : '',
    budget,
    objects.join(', '),
  ]
}

/** Formats the cells FOUND BY BOTH and IOU. */
function formatAgreement(agreement: ModelShadowComparison['agreement']): string[] {
  const { both, other_class, active_only, candidate_only, mean_iou } = agreement
  const total = both + other_class + active_only + candidate_only
  return [total > 0 ? formatShare(both / total) : '', String(mean_iou ?? '')]
}

const formatShare = (share: number) => `${Math.round(share * 100)} %`
