import { join } from 'node:path'
import { z } from 'zod'
import type { Style } from '../command/terminal.ts'

const ROTATED_FILES = 4

/** The log files of a data folder: the current one, followed by the rotated ones from newest to oldest. */
export function getLogFiles(data: string): [current: string, ...rotated: string[]] {
  const current = join(data, 'log/eyrie.log')
  return [current, ...Array.from({ length: ROTATED_FILES }, (_, i) => `${current}.${i + 1}`)]
}

/** A line of the log, as pino writes it: levels 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
export const logRecord = z.looseObject({
  level: z.number(),
  time: z.iso.datetime(),
  service: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string() }).optional().catch(undefined),
})
export type LogRecord = z.infer<typeof logRecord>

/** Severities in ascending order, with the lowest level of each. */
export const severities = { debug: 0, info: 30, warn: 40, error: 50 }
export type Severity = keyof typeof severities

function toSeverity(level: number): Severity {
  const names = Object.keys(severities) as Severity[]
  return names.findLast(name => level >= severities[name]) ?? 'debug'
}

/** Applies a style to a text, or returns the text unchanged where colours are off. */
export type Paint = (style: Style, text: string) => string

const marks: Readonly<Record<Severity, (paint: Paint) => string>> = {
  debug: paint => paint('dim', '·'),
  info: () => ' ',
  warn: paint => paint('yellow', '!'),
  error: paint => paint('red', '✗'),
}
/** Fields that are not printed as `key=value`. */
const omittedFields = new Set(['level', 'time', 'msg', 'service', 'err', 'pid', 'hostname'])

/** Formats a record as one line: local time, service, severity, message with its cause, other fields as `key=value`. */
export function formatLogRecord(record: LogRecord, paint: Paint): string {
  const { time, level, msg, err } = record
  const clock = new Date(time).toTimeString().slice(0, 8)
  const fields = Object.entries(record)
    .filter(([key]) => !omittedFields.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  const service = paint('cyan', record.service.padEnd(10))
  const mark = marks[toSeverity(level)](paint)
  const message = err && !msg.includes(err.message) ? `${msg}: ${err.message}` : msg
  return `${paint('dim', clock)} ${service} ${mark} ${message}${fields && ` ${paint('dim', fields)}`}`
}
