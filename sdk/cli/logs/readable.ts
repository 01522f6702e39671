import type { styleText } from 'node:util'
import { type LogRecord, type Severity, severityOf } from './record.ts'

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

const marks: Readonly<Record<Severity, (paint: Paint) => string>> = {
  debug: paint => paint('dim', '·'),
  info: () => ' ',
  warn: paint => paint('yellow', '!'),
  error: paint => paint('red', '✗'),
}
const unsaid = new Set(['level', 'time', 'msg', 'service', 'err', 'pid', 'hostname'])

/** A record as one line for people: local time, service, severity, message with its cause, and all other fields as `key=value`. */
export function readable(record: LogRecord, paint: Paint): string {
  const clock = new Date(record.time).toTimeString().slice(0, 8)
  const fields = Object.entries(record)
    .filter(([key]) => !unsaid.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  const service = paint('cyan', record.service.padEnd(10))
  const mark = marks[severityOf(record)](paint)
  const { msg, err } = record
  const said = err && !msg.includes(err.message) ? `${msg}: ${err.message}` : msg
  return `${paint('dim', clock)} ${service} ${mark} ${said}${fields && ` ${paint('dim', fields)}`}`
}
