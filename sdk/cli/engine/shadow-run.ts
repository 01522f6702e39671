import { setTimeout as sleep } from 'node:timers/promises'
import { confirm, isInteractive } from '../command/confirm.ts'
import { type Output, type Style, styled, type Terminal } from '../command/terminal.ts'

/** What commands do with a version of a plugin, or a model, that runs in shadow. */

const POLL_MS = 500

/** The fields of a report that show whether the run has ended, and what it has found. */
interface ShadowProgress {
  state: 'running' | 'ended'
  verdict: 'same' | 'different' | 'worse' | 'unknown'
}

const VERDICTS: Record<ShadowProgress['verdict'], { style: Style; text?: string }> = {
  same: { style: 'green' },
  different: { style: 'yellow', text: 'has other results' },
  worse: { style: 'red', text: 'does worse' },
  unknown: { style: 'yellow', text: 'has processed no frame' },
}

/**
 * Prints the verdict on what runs in shadow, such as `crowd 1.1.0 does worse so far`, and the
 * findings. `sameText` is the verdict `same`.
 */
export function printVerdict(
  { state, verdict, findings }: ShadowProgress & { findings: readonly string[] },
  { name, sameText }: { name: string; sameText: string },
  out: Output,
): void {
  const { style, text = sameText } = VERDICTS[verdict]
  const progress = state === 'running' ? ' so far' : ''
  out.write(`${styled(out, style, `${name} ${text}${progress}`)}\n`)
  for (const finding of findings) out.write(`  ${finding}\n`)
}

/** Waits until a run has ended, and returns its last report. */
export async function waitForEnd<Report extends ShadowProgress>(
  started: Report,
  readReport: () => Promise<Report>,
): Promise<Report> {
  let report = started
  while (report.state === 'running') {
    await sleep(POLL_MS)
    report = await readReport()
  }
  return report
}

/** Returns whether to switch after a run: with --accept, or if a person on the terminal agrees. */
export async function isSwitchWanted(
  { verdict }: ShadowProgress,
  { accept = false, json = false }: { accept?: boolean | undefined; json?: boolean | undefined },
  question: string,
  terminal: Terminal,
): Promise<boolean> {
  if (accept) return true
  const isAcceptable = verdict === 'same' || verdict === 'different'
  return !json && isAcceptable && isInteractive(terminal) && (await confirm(terminal, question))
}
