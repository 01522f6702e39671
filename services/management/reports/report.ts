import type { ReportFormat, ReportInterval } from '@eyrie/contract/management/report'

/** A value of each column; undefined where there is none, such as the mean of no visits. */
export type ReportValues = readonly (number | undefined)[]

/** The statistics of a day, week or month. */
export interface ReportRow {
  /** First and last day, such as `2026-01-31`. */
  firstDay: string
  lastDay: string
  values: ReportValues
  /** The values of the same row of the previous period. Undefined if it had fewer rows. */
  previous?: ReportValues
}

/** The rows of a channel, or of all channels, and the values over the whole period. */
export interface ReportTable {
  rows: readonly ReportRow[]
  total: ReportValues
  previousTotal?: ReportValues
}

export interface ReportColumn {
  key: string
  label: string
  /** Whether values are added over time, so that bars of them mean something. */
  isSum: boolean
}

export interface ReportChannel extends ReportTable {
  channel_name: string
  channel_key: string
  /**
   * Whether messages about the period may be missing, because the engine was unreachable or had not
   * sent all of them yet.
   */
  isIncomplete: boolean
}

/** The channels of a usecase. */
export interface ReportSection {
  usecase_key: string
  usecase_name: string
  columns: readonly ReportColumn[]
  channels: readonly ReportChannel[]
  /** All channels together. */
  combined: ReportTable
}

/** The content of a report, independent of the format of its file. */
export interface Report {
  title: string
  /** Empty if the caller sees only channels of the site. */
  siteName: string
  timeZone: string
  interval: ReportInterval
  firstDay: string
  lastDay: string
  /** The period with which this one is compared. */
  previous: { firstDay: string; lastDay: string } | undefined
  createdAt: Date
  sections: readonly ReportSection[]
}

/** Returns the names of the channels of which messages about the period may be missing. */
export const listIncompleteChannels = ({ sections }: Report): string[] =>
  sections.flatMap(({ channels }) =>
    channels.filter(({ isIncomplete }) => isIncomplete).map(({ channel_name }) => channel_name),
  )

/** Returns the note on the incomplete channels of a report. Undefined if it has none. */
export function describeIncompleteChannels(report: Report): string | undefined {
  const channels = listIncompleteChannels(report)
  return channels.length > 0 ? `Events may be missing of ${channels.join(', ')}` : undefined
}

/** Returns the name of the file of a report. */
export const createFileName = (
  { title, firstDay, lastDay }: Pick<Report, 'title' | 'firstDay' | 'lastDay'>,
  format: ReportFormat,
): string => {
  // Accents are removed, because not all mail programs read them in names of files.
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\w-]+/g, '-')
  const name = plain.replace(/^-+|-+$/g, '').slice(0, 80) || 'report'
  return `${name}-${firstDay}-${lastDay}.${format}`
}
