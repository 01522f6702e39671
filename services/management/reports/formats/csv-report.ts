import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify'
import { listIncompleteChannels, type Report, type ReportColumn } from '../report.ts'

type CsvRecord = Record<string, string | number | undefined>

/** Fields that every row has, before the statistics. */
const ROW_FIELDS = ['usecase', 'channel', 'channel_key', 'first_day', 'last_day']

/** The column of a report with incomplete channels: `true` in their rows. */
const INCOMPLETE_FIELD = 'incomplete'

/**
 * Writes a report as CSV (RFC 4180), with a row for each channel and interval. `bom` adds
 * a byte order mark. An apostrophe is put in front of texts that a spreadsheet program
 * would take for a formula. If messages may be missing, a last column marks the rows of the
 * incomplete channels.
 */
export function streamCsv(report: Report, { bom }: { bom: boolean }): Readable {
  const keys = listKeys(report)
  const columns = report.previous ? keys.flatMap(key => [key, `${key}_previous`]) : keys
  const isIncomplete = listIncompleteChannels(report).length > 0
  const records = Readable.from(listRecords(report))
  const csv = stringify({
    bom,
    columns: [...ROW_FIELDS, ...columns, ...(isIncomplete ? [INCOMPLETE_FIELD] : [])],
    header: true,
    escape_formulas: true,
    record_delimiter: '\r\n',
  })
  records.on('error', error => csv.destroy(error))
  return records.pipe(csv)
}

/** Returns the statistic keys of all usecases, each once: usecases share some. */
const listKeys = ({ sections }: Report): string[] => [
  ...new Set(sections.flatMap(({ columns }) => columns.map(({ key }) => key))),
]

function* listRecords({ sections }: Report): Generator<CsvRecord> {
  for (const { usecase_key: usecaseKey, columns, channels } of sections) {
    for (const channel of channels) {
      const { channel_name: channelName, channel_key: channelKey, isIncomplete, rows } = channel
      for (const { firstDay, lastDay, values, previous } of rows) {
        yield {
          usecase: usecaseKey,
          channel: channelName,
          channel_key: channelKey,
          first_day: firstDay,
          last_day: lastDay,
          ...toFields(columns, values, ''),
          ...toFields(columns, previous ?? [], '_previous'),
          ...(isIncomplete && { [INCOMPLETE_FIELD]: 'true' }),
        }
      }
    }
  }
}

const toFields = (
  columns: readonly ReportColumn[],
  values: readonly (number | undefined)[],
  suffix: string,
): CsvRecord => Object.fromEntries(columns.map(({ key }, index) => [key + suffix, values[index]]))
