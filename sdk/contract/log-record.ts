import { z } from 'zod'
import { escapeControlCharacters } from './control-characters.ts'
import { tryParseJson } from './parse.ts'

/**
 * A record in the log of the services, which is a line of JSON written by pino. `formatLogRecord`
 * prints it for people. Levels: 20 debug, 30 info, 40 warn, 50 error, 60 fatal.
 */
export const logRecord = z.looseObject({
  level: z.number(),
  time: z.iso.datetime(),
  service: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string() }).optional().catch(undefined),
})
export type LogRecord = z.infer<typeof logRecord>

/**
 * Parses a line of the log. Returns undefined if it is invalid: a crash can leave an incomplete
 * one.
 */
export const parseLogRecord = (line: string): LogRecord | undefined =>
  logRecord.safeParse(tryParseJson(line)).data

/** The lowest level of each severity. */
export const SEVERITIES = { debug: 0, info: 30, warn: 40, error: 50 }
export type Severity = keyof typeof SEVERITIES

export function toSeverity(level: number): Severity {
  if (level >= SEVERITIES.error) return 'error'
  if (level >= SEVERITIES.warn) return 'warn'
  if (level >= SEVERITIES.info) return 'info'
  return 'debug'
}

/** Colours and emphasis of a terminal, as `styleText` of Node.js names them. */
type Style = 'dim' | 'cyan' | 'yellow' | 'red'

/** Returns the text in a style, or unchanged if the output has no colours. */
export type Paint = (style: Style, text: string) => string

function formatSeverity(severity: Severity, paint: Paint): string {
  switch (severity) {
    case 'debug':
      return paint('dim', '·')
    case 'info':
      return ' '
    case 'warn':
      return paint('yellow', '!')
    case 'error':
      return paint('red', '✗')
  }
}

/** The width of the longest name of a service. */
const SERVICE_WIDTH = 'management'.length

/**
 * Formats a record as one line: local time, service, severity, message and error, other
 * fields as `key=value`. Control characters are escaped.
 */
export function formatLogRecord(record: LogRecord, paint: Paint): string {
  const clock = new Date(record.time).toTimeString().slice(0, 8)
  const columns = [
    paint('dim', clock),
    paint('cyan', escapeControlCharacters(record.service).padEnd(SERVICE_WIDTH)),
    formatSeverity(toSeverity(record.level), paint),
    escapeControlCharacters(formatMessage(record)),
  ]
  const fields = escapeControlCharacters(formatFields(record))
  if (fields !== '') columns.push(paint('dim', fields))
  return columns.join(' ')
}

/**
 * Returns the message of a record, followed by the message of its error unless that
 * would be a repetition.
 */
function formatMessage({ msg, err }: LogRecord): string {
  const isErrorNew = err !== undefined && !msg.includes(err.message)
  return isErrorNew ? `${msg}: ${err.message}` : msg
}

/** Fields that are not printed as `key=value`. */
const OMITTED_FIELDS = new Set(['level', 'time', 'msg', 'service', 'err', 'pid', 'hostname'])

function formatFields(record: LogRecord): string {
  const printed = Object.entries(record).filter(([key]) => !OMITTED_FIELDS.has(key))
  const texts = printed.map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${key}=${text}`
  })
  return texts.join(' ')
}
