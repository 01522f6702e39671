import { fstatSync } from 'node:fs'

/**
 * Whether a descriptor leads to the journal of systemd (man 5 systemd.exec, `JOURNAL_STREAM`). The
 * variable alone does not tell: terminals that systemd has started pass it on to their programs.
 */
export function isJournal(descriptor: number, { JOURNAL_STREAM }: NodeJS.ProcessEnv): boolean {
  if (JOURNAL_STREAM === undefined) return false
  const { dev, ino } = fstatSync(descriptor, { bigint: true })
  return JOURNAL_STREAM === `${dev}:${ino}`
}
