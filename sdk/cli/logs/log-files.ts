import { join } from 'node:path'

const ROTATED_FILES = 4

/** The log files of a data folder: the current one, followed by the rotated ones from newest to oldest. */
export function getLogFiles(data: string): [current: string, ...rotated: string[]] {
  const current = join(data, 'log/eyrie.log')
  return [current, ...Array.from({ length: ROTATED_FILES }, (_, i) => `${current}.${i + 1}`)]
}
