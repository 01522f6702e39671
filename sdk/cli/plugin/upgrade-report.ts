import type { ShadowComparison, ShadowReport, ShadowSide } from '@eyrie/contract'
import { type Output, writeTable } from '../command/terminal.ts'
import { printVerdict } from '../engine/shadow-run.ts'

/**
 * Prints how the active version of a plugin and a version that runs in shadow,
 * without any effect, differ.
 */

const HEADER = [
  'CHANNEL',
  'ELEMENT',
  'VERSION',
  'FRAMES',
  'FAILURES',
  'CPU MS (P95)',
  'BUDGET',
  'OBJECTS',
  'EVENTS',
]

/** Prints a table with both versions on each channel, the verdict and the findings. */
export function printShadowReport(report: ShadowReport, out: Output): void {
  const { plugin, version, channels } = report
  writeTable(out, [HEADER, ...channels.flatMap(comparison => createRows(comparison, report))])
  printVerdict(report, { name: `${plugin} ${version}`, sameText: 'does the same' }, out)
}

/** Creates the rows of a channel: the active version, and the version in shadow below. */
function createRows(
  { channel, element, frames, ...sides }: ShadowComparison,
  { active, version }: ShadowReport,
): string[][] {
  const frameCount = String(frames)
  return [
    [String(channel), element, active, frameCount, ...formatSide(sides.active)],
    ['', '', version, frameCount, ...formatSide(sides.shadow)],
  ]
}

/** Formats the cells from FAILURES to EVENTS. */
function formatSide({
  failures,
  cpu_ms: cpuMs,
  budget_ms: budgetMs,
  over_budget: overBudget,
  objects,
  events,
}: ShadowSide): string[] {
  const budget = budgetMs === undefined ? '' : `${budgetMs} ms, exceeded ${overBudget}×`
  const counted = Object.entries(events).map(([type, count]) => `${type} ${count}`)
  return [
    String(failures),
    cpuMs ? `${cpuMs.mean} (${cpuMs.p95})` : '',
    budget,
    String(objects),
    counted.join(', '),
  ]
}
