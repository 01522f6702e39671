import { styleText } from 'node:util'
import {
  formatLogRecord,
  type LogRecord,
  logRecord,
  type Severity,
  severities,
} from '@eyrie/cli/logs/log-format'
import { tryParseJson } from '@eyrie/contract/parse'

/** Fields of a log entry. `err` is the cause of a failure. */
export interface LogFields {
  err?: Error
  [name: string]: unknown
}

type Log = (service: string, message: string, fields?: LogFields) => void

/** The common log of all services. */
export interface ServiceLog {
  /** Logs a line that a service printed: a JSON record, or any text. */
  line(service: string, line: string): void
  info: Log
  warn: Log
  error: Log
}

/** Receives every record of the log. */
export type LogSink = (record: LogRecord) => void

/** Creates a log that passes every record to all sinks. Lines that are not records, as in a crash, become records. */
export function createServiceLog(sinks: LogSink[], now = () => new Date()): ServiceLog {
  const write = (record: LogRecord) => {
    for (const sink of sinks) sink(record)
  }
  const createLog =
    (severity: Severity): Log =>
    (service, msg, { err, ...fields } = {}) => {
      const cause = err && { err: { type: err.name, message: err.message, stack: err.stack } }
      write({ ...fields, ...cause, level: severities[severity], time: now().toISOString(), service, msg })
    }
  const info = createLog('info')
  return {
    info,
    warn: createLog('warn'),
    error: createLog('error'),
    line(service, line) {
      if (line.trim() === '') return
      const parsed = logRecord.safeParse({ ...parseFields(line), service })
      if (parsed.success) write(parsed.data)
      else info(service, line)
    },
  }
}

function parseFields(line: string): object {
  const value = tryParseJson(line)
  return typeof value === 'object' && value !== null ? value : {}
}

/** Creates a sink that prints readable lines, with colours for a terminal. */
export function createPrinter(writeLine: (line: string) => void, hasColours: boolean): LogSink {
  return record =>
    writeLine(
      formatLogRecord(record, (style, text) =>
        hasColours ? styleText(style, text, { validateStream: false }) : text,
      ),
    )
}
