import { styleText } from 'node:util'
import { readable } from '@eyrie/cli/logs/readable'
import { type LogRecord, logRecord, type Severity, severities } from '@eyrie/cli/logs/record'
import { tryParseJson } from '@eyrie/contract/parse'

/** One log of all services. */
export interface Console {
  line(service: string, line: string): void
  info(service: string, message: string): void
  warn(service: string, message: string): void
  error(service: string, message: string): void
}

export type TakeRecord = (record: LogRecord) => void

/** Hands every record to all takers. A line that is no record, such as the last words of a crash, becomes one. */
export function createConsole(takers: TakeRecord[], now = () => new Date()): Console {
  const give = (record: LogRecord) => {
    for (const take of takers) take(record)
  }
  const say = (severity: Severity) => (service: string, msg: string) =>
    give({ level: severities[severity], time: now().toISOString(), service, msg })
  const info = say('info')
  return {
    info,
    warn: say('warn'),
    error: say('error'),
    line(service, line) {
      if (line.trim() === '') return
      const parsed = logRecord.safeParse({ ...fieldsOf(line), service })
      if (parsed.success) give(parsed.data)
      else info(service, line)
    },
  }
}

function fieldsOf(line: string): object {
  const value = tryParseJson(line)
  return typeof value === 'object' && value !== null ? value : {}
}

/** Prints records for people. `write` takes whole lines; `colours` is for terminals. */
export function printer(write: (line: string) => void, colours: boolean): TakeRecord {
  return record =>
    write(
      readable(record, (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text)),
    )
}
