import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { logFiles } from '@eyrie/cli/logs/files'
import type { TakeRecord } from './console.ts'

const FILE_BYTES = 10 << 20

/**
 * Keeps records as JSON lines in a file that its owner alone can read. When it is full it becomes `.1`, what was `.1`
 * becomes `.2`, and the oldest goes. What the disk cannot take is left out: it has still been printed.
 */
export function createLogFile(data: string, fileBytes = FILE_BYTES): TakeRecord {
  const files = logFiles(data)
  let file: number | undefined
  let size = 0

  const open = () => {
    mkdirSync(dirname(files[0]), { recursive: true, mode: 0o700 })
    const opened = openSync(files[0], 'a', 0o600)
    size = fstatSync(opened).size
    return opened
  }
  const rotate = (full: number) => {
    file = undefined
    closeSync(full)
    for (let i = files.length - 1; i > 0; i--)
      if (existsSync(files[i - 1]!)) renameSync(files[i - 1]!, files[i]!)
  }

  return record => {
    const line = Buffer.from(`${JSON.stringify(record)}\n`)
    try {
      file ??= open()
      if (size > 0 && size + line.length > fileBytes) {
        rotate(file)
        file = open()
      }
      size += writeSync(file, line)
    } catch {
      // A full or broken disk must not stop the services; the next record tries again.
    }
  }
}
