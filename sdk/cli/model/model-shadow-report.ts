import type { ModelShadowReport, ModelShadowSide } from '@eyrie/contract'
import { type Output, type Style, styled, writeTable } from '../command/terminal.ts'

/** What the commands print about models in shadow. */

const VERDICTS: Record<ModelShadowReport['verdict'], { style: Style; text: string }> = {
  same: { style: 'green', text: 'finds the same' },
  different: { style: 'yellow', text: 'has other results' },
  worse: { style: 'red', text: 'does worse' },
  unknown: { style: 'yellow', text: 'has processed no frame' },
}

export function printModelReport(report: ModelShadowReport, out: Output): void {
  const { active, candidate, state, channels, load, verdict, findings } = report
  const header = [
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
  const rows = channels.flatMap(comparison => {
    const { channel, frames, budget_ms, agreement } = comparison
    const { both, other_class, active_only, candidate_only, mean_iou } = agreement
    const total = both + other_class + active_only + candidate_only
    const shared = total > 0 ? formatShare(both / total) : ''
    const count = String(frames)
    return [
      [
        String(channel),
        active,
        count,
        ...describeSide(comparison.active, budget_ms),
        shared,
        `${mean_iou ?? ''}`,
      ],
      ['', candidate, count, ...describeSide(comparison.candidate, budget_ms), '', ''],
    ]
  })
  writeTable(out, [header, ...rows])
  out.write(
    `inference workers: ${load.workers}, ${active} uses ${load.active}, ${candidate} ${load.candidate}\n`,
  )
  const { style, text } = VERDICTS[verdict]
  const progress = state === 'running' ? ' so far' : ''
  out.write(`${styled(out, style, `${candidate} ${text}${progress}`)}\n`)
  for (const finding of findings) out.write(`  ${finding}\n`)
}

function describeSide(
  { failures, cpu_ms, over_budget, objects }: ModelShadowSide,
  budgetMs: number | undefined,
): string[] {
  const budget = budgetMs === undefined ? '' : `${budgetMs} ms, exceeded in ${formatShare(over_budget)}`
  const counted = Object.entries(objects).map(([name, count]) => `${name} ${count}`)
  return [
    String(failures),
    cpu_ms ? String(cpu_ms.p50) : '',
    cpu_ms ? String(cpu_ms.p99) : '',
    budget,
    counted.join(', '),
  ]
}

const formatShare = (share: number) => `${Math.round(share * 100)} %`
