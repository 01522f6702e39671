import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { getLogFiles } from '@eyrie/cli/logs/log-files'
import { createFolder } from '@eyrie/kit/create-folder'
import type { LogSink } from './service-log.ts'

const MAX_FILE_BYTES = 10 << 20

/**
 * Creates a sink that appends records as JSON lines to the log file in the data folder. Only the
 * owner can read the file. A full file is renamed to `.1`, `.1` to `.2`, and so on, and the oldest
 * file is deleted. Write errors are ignored, because every record is also printed.
 */
export function createLogFile(data: string, maxFileBytes = MAX_FILE_BYTES): LogSink {
  const files = getLogFiles(data)
  let file: { descriptor: number; size: number } | undefined

  const open = () => {
    createFolder(dirname(files[0]), 0o700)
    const descriptor = openSync(files[0], 'a', 0o600)
    return { descriptor, size: fstatSync(descriptor).size }
  }

  const rotate = (descriptor: number) => {
    file = undefined
    closeSync(descriptor)
    // From the oldest to the newest, so that no file is overwritten before it has been renamed.
    for (let i = files.length - 1; i > 0; i--) {
      if (existsSync(files[i - 1]!)) renameSync(files[i - 1]!, files[i]!)
    }
  }

  return record => {
    const line = Buffer.from(`${JSON.stringify(record)}\n`)
    try {
      file ??= open()
      if (file.size > 0 && file.size + line.length > maxFileBytes) {
        rotate(file.descriptor)
        file = open()
      }
      file.size += writeSync(file.descriptor, line)
    } catch {
      // A full or broken disk must not stop the services. The next record retries.
    }
  }
}
