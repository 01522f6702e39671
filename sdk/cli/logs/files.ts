import { join } from 'node:path'

const OLD_FILES = 4

/** The files of the log in a data folder, the one that is written first, then older ones. */
export function logFiles(data: string): [newest: string, ...older: string[]] {
  const newest = join(data, 'log/eyrie.log')
  return [newest, ...Array.from({ length: OLD_FILES }, (_, i) => `${newest}.${i + 1}`)]
}
