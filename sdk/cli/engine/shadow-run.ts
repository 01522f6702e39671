import { setTimeout as sleep } from 'node:timers/promises'
import { confirm, isInteractive } from '../command/confirm.ts'
import { type Output, type Style, styled, type Terminal } from '../command/terminal.ts'

/**
 * Functions for the commands that run a version of a plugin, or a model, in shadow: on the same
 * frames as the active one, but without any effect. The engine reports how the two differ.
 */

const POLL_MS = 500

/** The fields that the reports on plugins and on models have in common. */
interface ShadowProgress {
  state: 'running' | 'ended'
  verdict: 'same' | 'different' | 'worse' | 'unknown'
}

/** How verdicts are printed. The text of `same` depends on the command. */
const VERDICTS: Record<ShadowProgress['verdict'], { style: Style; text?: string }> = {
  same: { style: 'green' },
  different: { style: 'yellow', text: 'has other results' },
  worse: { style: 'red', text: 'does worse' },
  unknown: { style: 'yellow', text: 'has processed no frame' },
}

/**
 * Prints the verdict on what runs in shadow, such as `crowd 1.1.0 does worse so far`, and the
 * findings. `sameText` is printed for the verdict `same`.
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

/**
 * Returns whether to switch after a run. The option `--accept` decides that in advance. Otherwise
 * asks the user, but only on a terminal and after an acceptable verdict.
 */
export async function confirmSwitch(
  { verdict }: ShadowProgress,
  { accept = false, json = false }: { accept?: boolean | undefined; json?: boolean | undefined },
  question: string,
  terminal: Terminal,
): Promise<boolean> {
  if (accept) return true
  const isAcceptable = verdict === 'same' || verdict === 'different'
  const canAsk = !json && isInteractive(terminal)
  return isAcceptable && canAsk && (await confirm(terminal, question))
}
