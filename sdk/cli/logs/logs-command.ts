import { readFile } from 'node:fs/promises'
import { setInterval } from 'node:timers/promises'
import { type Command, parseArguments, parsePositiveInteger, UsageError } from '../command/command.ts'
import { styled } from '../command/terminal.ts'
import {
  formatLogRecord,
  getLogFiles,
  type LogRecord,
  logRecord,
  type Paint,
  type Severity,
  severities,
} from './log-format.ts'
import { type LogTail, openLogTail } from './log-tail.ts'

const POLL_INTERVAL_MS = 200

type Filter = (record: LogRecord) => boolean

export const logsCommand: Command = {
  usage: '[--lines 100] [--service engine] [--level debug|info|warn|error] [--follow] [--json]',
  about:
    'Prints the latest lines of the log, of all services or one --service, at or above a --level.\n' +
    '--follow continues with new lines until Ctrl-C.',

  async run(args, { data, out, err, captureInterrupt }) {
    const { values } = parseArguments(
      args,
      {
        lines: { type: 'string', default: '100' },
        service: { type: 'string' },
        level: { type: 'string', default: 'debug' },
        follow: { type: 'boolean', default: false },
        json: { type: 'boolean' },
      },
      [],
    )
    const minLevel = severities[parseSeverity(values.level)]
    const count = parsePositiveInteger('lines', values.lines)
    const matches: Filter = ({ service, level }) =>
      level >= minLevel && (values.service === undefined || service === values.service)
    const paint: Paint = (style, text) => styled(out, style, text)
    const print = (record: LogRecord) =>
      out.write(`${values.json ? JSON.stringify(record) : formatLogRecord(record, paint)}\n`)

    const tail = await openTail(data)
    try {
      const records = await readLatest(tail, data, count, matches)
      for (const record of records) print(record)
      if (values.follow) await follow(tail, matches, print, captureInterrupt?.())
      else if (records.length === 0) err.write('no log entries match this service and level\n')
    } finally {
      await tail.close()
    }
  },
}

function parseSeverity(text: string): Severity {
  if (Object.hasOwn(severities, text)) return text as Severity
  throw new UsageError(`--level ${text} should be one of ${Object.keys(severities).join(', ')}`)
}

async function openTail(data: string): Promise<LogTail> {
  const files = getLogFiles(data)
  return openLogTail(files).catch(cause => {
    const problem = cause.code === 'ENOENT' ? 'there is no log' : `failed to read the log (${cause.code})`
    throw new Error(`${problem} at ${files[0]}: set EYRIE_DATA to the data folder of the appliance`, {
      cause,
    })
  })
}

/** The latest `count` matching records in chronological order. */
async function readLatest(tail: LogTail, data: string, count: number, matches: Filter): Promise<LogRecord[]> {
  const [, ...rotated] = getLogFiles(data)
  let records = parseRecords(await tail.read()).filter(matches)
  for (const file of rotated) {
    if (records.length >= count) break
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
    records = [...parseRecords(lines).filter(matches), ...records]
  }
  return records.slice(-count)
}

/** Prints new records until the signal fires. */
async function follow(
  tail: LogTail,
  matches: Filter,
  print: (record: LogRecord) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    for await (const _ of setInterval(POLL_INTERVAL_MS, undefined, { signal }))
      for (const record of parseRecords(await tail.read()).filter(matches)) print(record)
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

/** Skips invalid lines: a crash can leave an incomplete one. */
function parseRecords(lines: readonly string[]): LogRecord[] {
  return lines.flatMap(line => {
    try {
      return [logRecord.parse(JSON.parse(line))]
    } catch {
      return []
    }
  })
}
