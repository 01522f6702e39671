import type { ShadowReport, ShadowSide } from '@eyrie/contract'
import { type Output, type Style, styled, writeTable } from '../command/terminal.ts'

/** What the commands print about versions of plugins in shadow. */

const VERDICTS: Record<ShadowReport['verdict'], { style: Style; text: string }> = {
  same: { style: 'green', text: 'does the same' },
  different: { style: 'yellow', text: 'has other results' },
  worse: { style: 'red', text: 'does worse' },
  unknown: { style: 'yellow', text: 'has processed no frame' },
}

export function printShadowReport(report: ShadowReport, out: Output): void {
  const { plugin, active, version, state, channels, verdict, findings } = report
  const header = [
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
  const rows = channels.flatMap(({ channel, element, frames, active: before, shadow }) => [
    [String(channel), element, active, String(frames), ...describeSide(before)],
    ['', '', version, String(frames), ...describeSide(shadow)],
  ])
  writeTable(out, [header, ...rows])
  const { style, text } = VERDICTS[verdict]
  const progress = state === 'running' ? ' so far' : ''
  out.write(`${styled(out, style, `${plugin} ${version} ${text}${progress}`)}\n`)
  for (const finding of findings) out.write(`  ${finding}\n`)
}

function describeSide({
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
