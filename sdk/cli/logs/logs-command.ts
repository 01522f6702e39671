import { setInterval } from 'node:timers/promises'
import {
  formatLogRecord,
  type LogRecord,
  type Paint,
  parseLogRecord,
  SEVERITIES,
  type Severity,
} from '@eyrie/contract/log-record'
import {
  type Command,
  JSON_OPTION,
  parseArguments,
  parseChoice,
  parsePositiveInteger,
} from '../command/command.ts'
import { styled } from '../command/terminal.ts'
import { getLogFiles } from './log-files.ts'
import { type LogTail, openLogTail } from './log-tail.ts'

const POLL_INTERVAL_MS = 200

const SEVERITY_NAMES = Object.keys(SEVERITIES) as Severity[]

const LOGS_OPTIONS = {
  lines: { type: 'string', default: '100' },
  service: { type: 'string' },
  level: { type: 'string', default: 'debug' },
  follow: { type: 'boolean', default: false },
  ...JSON_OPTION,
} as const

/** Whether a record is to be printed. */
type Filter = (record: LogRecord) => boolean

/** Prints records, and waits until the reader of the output has received them. */
type Print = (records: readonly LogRecord[]) => Promise<void>

/**
 * `eyrie logs`: prints the latest lines of the log of all services, and new lines with `--follow`.
 */
export const logsCommand: Command = {
  usage: '[--lines 100] [--service engine] [--level debug|info|warn|error] [--follow] [--json]',
  about:
    'Prints the latest lines of the log, of all services or one --service, at or above a --level.\n' +
    '--follow continues with new lines until Ctrl-C.',

  async run(args, { data, out, err, captureInterrupt }) {
    const { values } = parseArguments(args, LOGS_OPTIONS)
    const minLevel = SEVERITIES[parseChoice('level', values.level, SEVERITY_NAMES)]
    const maxRecords = parsePositiveInteger('lines', values.lines)
    const matches: Filter = ({ service, level }) =>
      level >= minLevel && (values.service === undefined || service === values.service)
    const paint: Paint = (style, text) => styled(out, style, text)
    const print: Print = async records => {
      for (const record of records) {
        const line = values.json ? JSON.stringify(record) : formatLogRecord(record, paint)
        out.write(`${line}\n`)
      }
      await out.drain?.()
    }

    const tail = await openTail(data)
    try {
      const records = await readLatest(tail, maxRecords, matches)
      await print(records)
      if (values.follow) await follow(tail, matches, print, captureInterrupt?.())
      else if (records.length === 0) err.write('no log entries match this service and level\n')
    } finally {
      await tail.close()
    }
  },
}

/** Opens the log. Throws an `Error` that names the file if it does not exist or cannot be read. */
async function openTail(data: string): Promise<LogTail> {
  const files = getLogFiles(data)
  const fail = (problem: string, cause?: unknown) =>
    new Error(`${problem} at ${files[0]}: set EYRIE_DATA to the data folder of the appliance`, {
      cause,
    })

  const tail = await openLogTail(files).catch(error => {
    throw fail(`failed to read the log (${error.code})`, error)
  })
  if (!tail) throw fail('there is no log')
  return tail
}

/**
 * Returns the latest `maxRecords` matching records in chronological order. Reads as few
 * older files as possible.
 */
async function readLatest(
  tail: LogTail,
  maxRecords: number,
  matches: Filter,
): Promise<LogRecord[]> {
  let records = parseRecords(await tail.read()).filter(matches)
  while (records.length < maxRecords) {
    const olderLines = await tail.readOlder()
    if (!olderLines) break
    records = [...parseRecords(olderLines).filter(matches), ...records]
  }
  return records.slice(-maxRecords)
}

/** Prints new records until the signal fires. */
async function follow(
  tail: LogTail,
  matches: Filter,
  print: Print,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    for await (const _ of setInterval(POLL_INTERVAL_MS, undefined, { signal })) {
      const records = parseRecords(await tail.read())
      await print(records.filter(matches))
    }
  } catch (error) {
    // The timer rejects when the signal fires. That is the normal end.
    if (!signal?.aborted) throw error
  }
}

/** Parses lines of the log, and omits invalid ones. */
const parseRecords = (lines: readonly string[]): LogRecord[] =>
  lines.flatMap(line => parseLogRecord(line) ?? [])
