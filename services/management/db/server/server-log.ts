import type { Log } from '@eyrie/kit'
import { FULL_DISK_MESSAGE } from './full-disk.ts'

/**
 * The log of the database server, which contains more than the connections report: why the
 * server cannot start.
 */
export interface ServerLog {
  /**
   * Reads a line, such as `LOG:  database system is shut down`, and forwards it to
   * the log of the service.
   */
  addLine(line: string): void
  /** Whether a full disk has stopped the server, or keeps it from starting. */
  isDiskFull(): boolean
}

/** The line that reports the end of the start. */
export const READY_MESSAGE = 'database system is ready to accept connections'

/** `onDiskFull` is called when `isDiskFull` changes. */
export function createServerLog(
  log: Log,
  onDiskFull: (isFull: boolean) => void = () => {},
): ServerLog {
  let isDiskFull = false

  function setDiskFull(isFull: boolean) {
    if (isFull === isDiskFull) return
    isDiskFull = isFull
    onDiskFull(isFull)
  }

  return {
    addLine(line) {
      const [, level = 'LOG', message = line] = /^([A-Z]+):\s+(.*)$/.exec(line) ?? []
      const isFailure = level === 'PANIC' || level === 'FATAL'
      // A server that cannot start repeats its errors at every attempt.
      if (isFailure && !isDiskFull) log.error({ line: message }, 'database server')
      else if (level === 'WARNING') log.warn({ line: message }, 'database server')
      else log.debug({ line: message }, 'database server')

      if (message.endsWith(READY_MESSAGE)) setDiskFull(false)
      else if (isFailure && message.includes(FULL_DISK_MESSAGE)) setDiskFull(true)
    },
    isDiskFull: () => isDiskFull,
  }
}
