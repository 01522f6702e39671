import { join } from 'node:path'

const MAX_ROTATED_FILES = 4

/**
 * Returns the log files of a data folder: the current one, followed by the rotated ones
 * from newest to oldest.
 */
export function getLogFiles(data: string): [current: string, ...rotated: string[]] {
  const current = join(data, 'log/eyrie.log')
  const rotated = Array.from({ length: MAX_ROTATED_FILES }, (_, index) => `${current}.${index + 1}`)
  return [current, ...rotated]
}
