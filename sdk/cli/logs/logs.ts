import { readFile } from 'node:fs/promises'
import { setInterval } from 'node:timers/promises'
import type { Command } from '../eyrie.ts'
import { parse, positive } from '../parse.ts'
import { styled, UsageError } from '../terminal.ts'
import { logFiles } from './files.ts'
import { readable } from './readable.ts'
import { type LogRecord, logRecord, type Severity, severities } from './record.ts'
import { type LogTail, openLogTail } from './tail.ts'

/** How often a log that is followed is looked at. */
const LOOK_MS = 200

export const logsCommand: Command = {
  usage: '[--lines 100] [--service engine] [--level debug|info|warn|error] [--follow] [--json]',
  about:
    'Shows the newest lines of the log of all services, or of one --service, that are at least of a --level.\n' +
    '--follow goes on with those that come, until Ctrl-C.',

  async run(args, { data, out, err, interrupted }) {
    const { values } = parse(
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
    const least = severities[severity(values.level)]
    const count = positive('lines', values.lines)
    const wanted = ({ service, level }: LogRecord) =>
      level >= least && (values.service === undefined || service === values.service)
    const paint = (style: Parameters<typeof styled>[1], text: string) => styled(out, style, text)
    const show = (record: LogRecord) =>
      out.write(`${values.json ? JSON.stringify(record) : readable(record, paint)}\n`)

    const tail = await tailOf(data)
    try {
      const records = await lastRecords(tail, data, count, wanted)
      for (const record of records) show(record)
      if (values.follow) await follow(tail, wanted, show, interrupted?.())
      else if (records.length === 0) err.write('no line of the log is of this service and level\n')
    } finally {
      await tail.close()
    }
  },
}

function severity(text: string): Severity {
  if (Object.hasOwn(severities, text)) return text as Severity
  throw new UsageError(`--level ${text} should be one of ${Object.keys(severities).join(', ')}`)
}

async function tailOf(data: string): Promise<LogTail> {
  const files = logFiles(data)
  return openLogTail(files).catch(cause => {
    const what = cause.code === 'ENOENT' ? 'there is no log' : `the log cannot be read (${cause.code})`
    throw new Error(`${what} at ${files[0]}: set EYRIE_DATA to the folder of a started appliance`, { cause })
  })
}

/** The newest records that are wanted, in the order in which they were written. */
async function lastRecords(
  tail: LogTail,
  data: string,
  count: number,
  wanted: (record: LogRecord) => boolean,
): Promise<LogRecord[]> {
  const [, ...older] = logFiles(data)
  let records = recordsIn(await tail.read()).filter(wanted)
  for (const file of older) {
    if (records.length >= count) break
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
    records = [...recordsIn(lines).filter(wanted), ...records]
  }
  return records.slice(-count)
}

/** Shows what is written until the signal fires. */
async function follow(
  tail: LogTail,
  wanted: (record: LogRecord) => boolean,
  show: (record: LogRecord) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    for await (const _ of setInterval(LOOK_MS, undefined, { signal }))
      for (const record of recordsIn(await tail.read()).filter(wanted)) show(record)
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

/** What a crash has torn is left out. */
function recordsIn(lines: readonly string[]): LogRecord[] {
  return lines.flatMap(line => {
    try {
      return [logRecord.parse(JSON.parse(line))]
    } catch {
      return []
    }
  })
}
