import { styleText } from 'node:util'
import {
  formatLogRecord,
  type LogRecord,
  logRecord,
  type Paint,
  SEVERITIES,
  type Severity,
} from '@eyrie/contract/log-record'
import { tryParseJson } from '@eyrie/contract/parse'

/** Fields of a log entry. Of `err`, the cause of a failure, type, message and stack are logged. */
export interface LogFields {
  err?: Error
  [name: string]: unknown
}

/** Logs a message of a process with one severity. */
type LogMethod = (service: string, message: string, fields?: LogFields) => void

/**
 * The log of the appliance, in which the records of all services are merged. `service` is the name
 * of the process that a record comes from.
 */
export interface ServiceLog {
  /**
   * Logs a line that a service has printed. A line that is not a JSON record, such as a stack
   * trace, is logged as `info`.
   */
  line(service: string, line: string): void
  info: LogMethod
  warn: LogMethod
  error: LogMethod
}

/** Receives every record of the log. */
export type LogSink = (record: LogRecord) => void

/** Creates a log that passes every record to all sinks. */
export function createServiceLog(sinks: LogSink[], now = () => new Date()): ServiceLog {
  const write = (record: LogRecord) => {
    for (const sink of sinks) sink(record)
  }
  const log = (
    severity: Severity,
    service: string,
    msg: string,
    { err, ...fields }: LogFields = {},
  ) => {
    const cause = err && { err: { type: err.name, message: err.message, stack: err.stack } }
    write({
      ...fields,
      ...cause,
      level: SEVERITIES[severity],
      time: now().toISOString(),
      service,
      msg,
    })
  }

  return {
    line(service, line) {
      if (line.trim() === '') return
      const parsed = logRecord.safeParse({ ...parseFields(line), service })
      if (parsed.success) write(parsed.data)
      else log('info', service, line)
    },
    info: (service, message, fields) => log('info', service, message, fields),
    warn: (service, message, fields) => log('warn', service, message, fields),
    error: (service, message, fields) => log('error', service, message, fields),
  }
}

/** Parses a JSON object. Returns an empty object for any other text. */
function parseFields(line: string): object {
  const parsed = tryParseJson(line)
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  return isObject ? parsed : {}
}

/**
 * Creates a sink that prints records to stdout: as readable lines, or as JSON if `EYRIE_LOG_FORMAT`
 * is `json`. Errors are ignored, because the log file contains every record, too.
 */
export function createStdoutSink({ EYRIE_LOG_FORMAT }: NodeJS.ProcessEnv): LogSink {
  // A terminal that is closed, or a program such as `head` that ends, must not end the appliance.
  process.stdout.on('error', () => {})
  const writeLine = (line: string) => void process.stdout.write(`${line}\n`)
  if (EYRIE_LOG_FORMAT === 'json') return record => writeLine(JSON.stringify(record))
  return createPrinter(writeLine, { hasColours: process.stdout.isTTY === true })
}

/** Creates a sink that prints records as readable lines, with colours if the terminal has them. */
export function createPrinter(
  writeLine: (line: string) => void,
  { hasColours = false } = {},
): LogSink {
  const paint: Paint = (style, text) =>
    hasColours ? styleText(style, text, { validateStream: false }) : text
  return record => writeLine(formatLogRecord(record, paint))
}
