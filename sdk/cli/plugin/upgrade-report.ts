import type { ShadowComparison, ShadowReport, ShadowSide } from '@eyrie/contract'
import { type Output, writeTable } from '../command/terminal.ts'
import { printVerdict } from '../engine/shadow-run.ts'

/**
 * Prints how two versions of a plugin differ: the active version, and a version that runs in
 * shadow, on the same frames but without any effect.
 */

/** The cells of `createRows`. Those from FAILURES on are the cells of `formatSide`. */
const HEADER = [
  'CHANNEL',
  'ELEMENT',
  'VERSION',
  'FRAMES',
  'FAILURES',
  // The mean per frame, and the 95th percentile in brackets.
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
  { channel, element, frames, active, shadow }: ShadowComparison,
  report: ShadowReport,
): string[][] {
  const frameCount = String(frames)
  return [
    [String(channel), element, report.active, frameCount, ...formatSide(active)],
    ['', '', report.version, frameCount, ...formatSide(shadow)],
  ]
}

/** Returns the cells from FAILURES to EVENTS. */
function formatSide({ failures, cpu_ms, budget_ms, over_budget, ...side }: ShadowSide): string[] {
  const budget = budget_ms === undefined ? '' : `${budget_ms} ms, exceeded ${over_budget}×`
  const events = Object.entries(side.events).map(([type, count]) => `${type} ${count}`)
  return [
    String(failures),
    cpu_ms ? `${cpu_ms.mean} (${cpu_ms.p95})` : '',
    budget,
    String(side.objects),
    events.join(', '),
  ]
}
