import { formatLogRecord, logRecord } from '@eyrie/contract/log-record'
import { type DestinationStream, type Logger, pino } from 'pino'

/** Writes log entries with fields, such as `log.info({ port }, 'listening')`. */
export type Log = Logger

/**
 * `json` for programs, such as the supervisor; `text` for people, where nothing formats the log.
 */
export type LogFormat = 'json' | 'text'

/** Creates a logger that writes lines to stdout. The supervisor collects and formats JSON lines. */
export function createLog(service: string, level = 'info', format: LogFormat = 'json'): Log {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['*.password', '*.token', '*.authorization'], censor: '***' },
  }
  return format === 'json' ? pino(options) : pino(options, createTextOutput())
}

/** Prints records as `eyrie logs` does, without colours. */
const createTextOutput = (): DestinationStream => ({
  write(line) {
    const record = logRecord.parse(JSON.parse(line))
    process.stdout.write(`${formatLogRecord(record, (_, text) => text)}\n`)
  },
})
