import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Command } from '../eyrie.ts'
import { parse, positive } from '../parse.ts'
import { styled, UsageError } from '../terminal.ts'
import { logFiles } from './files.ts'
import { readable } from './readable.ts'
import { type LogRecord, logRecord, type Severity, severities } from './record.ts'

export const logsCommand: Command = {
  usage: '[--lines 100] [--service engine] [--level debug|info|warn|error] [--json]',
  about:
    'Shows the newest lines of the log of all services, or of one --service, that are at least of a --level.',

  async run(args, { data, out, err }) {
    const { values } = parse(
      args,
      {
        lines: { type: 'string', default: '100' },
        service: { type: 'string' },
        level: { type: 'string', default: 'debug' },
        json: { type: 'boolean' },
      },
      [],
    )
    const least = severities[severity(values.level)]
    const wanted = ({ service, level }: LogRecord) =>
      level >= least && (values.service === undefined || service === values.service)
    const records = await lastRecords(data, positive('lines', values.lines), wanted)
    const paint = (style: Parameters<typeof styled>[1], text: string) => styled(out, style, text)
    if (records.length === 0) err.write('no line of the log is of this service and level\n')
    for (const record of records)
      out.write(`${values.json ? JSON.stringify(record) : readable(record, paint)}\n`)
  },
}

function severity(text: string): Severity {
  if (Object.hasOwn(severities, text)) return text as Severity
  throw new UsageError(`--level ${text} should be one of ${Object.keys(severities).join(', ')}`)
}

/** The newest records that are wanted, in the order in which they were written. */
async function lastRecords(
  data: string,
  count: number,
  wanted: (record: LogRecord) => boolean,
): Promise<LogRecord[]> {
  const files = logFiles(data).filter(file => existsSync(file))
  if (files.length === 0)
    throw new Error(
      `there is no log at ${logFiles(data)[0]}: set EYRIE_DATA to the folder of a started appliance`,
    )
  let records: LogRecord[] = []
  for (const file of files) {
    records = [...recordsIn(await readFile(file, 'utf8')).filter(wanted), ...records]
    if (records.length >= count) break
  }
  return records.slice(-count)
}

/** What a crash has torn is left out. */
function recordsIn(text: string): LogRecord[] {
  return text.split('\n').flatMap(line => {
    try {
      return [logRecord.parse(JSON.parse(line))]
    } catch {
      return []
    }
  })
}
