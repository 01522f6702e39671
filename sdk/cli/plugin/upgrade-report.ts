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

function describeSide({ failures, cpu_ms, budget_ms, over_budget, objects, events }: ShadowSide): string[] {
  const budget = budget_ms === undefined ? '' : `${budget_ms} ms, exceeded ${over_budget}×`
  const counted = Object.entries(events).map(([type, count]) => `${type} ${count}`)
  return [
    String(failures),
    cpu_ms ? `${cpu_ms.mean} (${cpu_ms.p95})` : '',
    budget,
    String(objects),
    counted.join(', '),
  ]
}
