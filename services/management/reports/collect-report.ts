import type { ReportInterval } from '@eyrie/contract/management/report'
import { type Aggregations, getAggregation } from '@eyrie/contract/management/statistic'
import { asc, eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, usecase } from '../db/schema/index.ts'
import { fieldError } from '../errors/field-errors.ts'
import { readAggregates } from '../events/statistics/aggregates.ts'
import { type Buckets, createBuckets } from '../events/statistics/buckets.ts'
import { readBucketTotals } from '../events/statistics/event-range.ts'
import { NOTIFICATION_KEY, type Period } from '../events/statistics/samples.ts'
import {
  combineTotals,
  computeTotals,
  type StatisticSelection,
  type Totals,
  toStoredKeys,
} from '../events/statistics/totals.ts'
import { type ChannelSelection, whereSelected } from './channel-selection.ts'
import type { ReportColumn, ReportRow, ReportSection, ReportTable, ReportValues } from './report.ts'
import { listBuckets, type ReportBucket, type ReportPeriod } from './report-period.ts'

/** Maximum number of rows of a report, so that it fits in memory and a mailbox. */
const MAX_ROWS = 50_000
/** What is appended to the labels of statistics with a unit. */
const UNITS: Record<string, string> = { dwell_time: ' (s)' }

/** What a report contains. */
export interface ReportSelection extends ChannelSelection {
  /** Empty for all statistics of each usecase. */
  statisticKeys: readonly string[]
  interval: ReportInterval
  period: ReportPeriod
  isCompared: boolean
  timeZone: string
  /** Epoch ms. */
  now: number
  /** The channels of which messages about the period may be missing. */
  incompleteIds: readonly string[]
}

type Channel = Awaited<ReturnType<typeof readChannels>>[number]

/**
 * Reads the statistics of a report, with the rights of the transaction. Throws `EyrieError`
 * (`syntax`) if the report would be too long.
 */
export async function collectSections(
  tx: Transaction,
  selection: ReportSelection,
): Promise<ReportSection[]> {
  const channels = await readChannels(tx, selection)
  const rowCount = channels.length * listBuckets(selection.period, selection).length
  if (rowCount > MAX_ROWS) {
    throw fieldError(
      'report_interval',
      `the report would have ${rowCount} rows, and at most ${MAX_ROWS} are possible: ` +
        'choose a longer interval, a shorter period or fewer channels',
    )
  }

  const sections: ReportSection[] = []
  for (const usecaseChannels of Map.groupBy(channels, ({ usecase_key }) => usecase_key).values()) {
    const section = await collectSection(tx, usecaseChannels, selection)
    if (section) sections.push(section)
  }
  return sections
}

const readChannels = (tx: Transaction, selection: ReportSelection) =>
  tx
    .select({
      channel_id: channel.channel_id,
      channel_key: channel.channel_key,
      channel_name: channel.channel_name,
      windowSeconds: channel.channel_threshold_duration,
      usecase_key: usecase.usecase_key,
      usecase_name: usecase.usecase_name,
      availableKeys: usecase.usecase_meta_key,
      customAggregations: usecase.usecase_aggregations,
    })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(whereSelected(selection))
    .orderBy(asc(usecase.usecase_key), asc(channel.channel_name), asc(channel.channel_id))

/** Returns the section of a usecase, or undefined if it has none of the requested statistics. */
async function collectSection(
  tx: Transaction,
  channels: readonly Channel[],
  { statisticKeys, interval, period, timeZone, now, isCompared, incompleteIds }: ReportSelection,
): Promise<ReportSection | undefined> {
  // There is at least one channel, and all have the same usecase.
  const { usecase_key, usecase_name, availableKeys, customAggregations } = channels[0]!
  const existing = [...availableKeys, NOTIFICATION_KEY]
  const keys =
    statisticKeys.length > 0 ? existing.filter(key => statisticKeys.includes(key)) : existing
  if (keys.length === 0) return undefined

  const selection: StatisticSelection = { keys, availableKeys, customAggregations }
  const buckets = createBuckets(
    interval === 'month' ? { months: 1 } : { days: interval === 'week' ? 7 : 1 },
    timeZone,
  )
  const read = (readPeriod: Period) =>
    readPeriodTotals(tx, channels, {
      selection,
      buckets,
      rows: listBuckets(readPeriod, { interval, timeZone, now }),
      period: readPeriod,
    })
  const current = await read(period)
  const previous = isCompared ? await read(period.previous) : undefined

  const columns = keys.map(key => createColumn(key, customAggregations))
  /** Creates the table of a part of the totals: of one channel, or of all channels together. */
  const toTable = (select: (totals: PeriodTotals) => ChannelTotals) =>
    createTable(selection, {
      buckets: current.buckets,
      current: select(current),
      previous: previous && select(previous),
    })
  return {
    usecase_key,
    usecase_name,
    columns,
    channels: channels.map(({ channel_id, channel_name, channel_key }, index) => ({
      channel_name,
      channel_key,
      isIncomplete: incompleteIds.includes(channel_id),
      // The totals of a period have an entry for each channel.
      ...toTable(totals => totals.channels[index]!),
    })),
    combined: toTable(totals => combineChannels(totals, selection)),
  }
}

/**
 * The statistics of one channel, or of all channels together: one entry for each bucket, and one
 * for the whole period.
 */
interface ChannelTotals {
  rows: Totals[]
  total: Totals
}

interface PeriodTotals {
  /** The days, weeks or months of the period. */
  buckets: readonly ReportBucket[]
  channels: readonly ChannelTotals[]
}

function combineChannels(
  { buckets, channels }: PeriodTotals,
  selection: StatisticSelection,
): ChannelTotals {
  const combine = (totals: Totals[]) => combineTotals(totals, selection)
  return {
    // The rows of a channel correspond to the buckets.
    rows: buckets.map((_, index) => combine(channels.map(({ rows }) => rows[index]!))),
    total: combine(channels.map(({ total }) => total)),
  }
}

interface PeriodQuery {
  selection: StatisticSelection
  period: Period
  /** Assigns moments to days, weeks or months. */
  buckets: Buckets
  /** The days, weeks or months of the period. */
  rows: ReportBucket[]
}

/** Reads the statistics of channels in each row and over the whole period. */
async function readPeriodTotals(
  tx: Transaction,
  channels: readonly Channel[],
  { selection, buckets, rows, period }: PeriodQuery,
): Promise<PeriodTotals> {
  const storedKeys = toStoredKeys(selection.keys)
  const ids = channels.map(({ channel_id }) => channel_id)
  const aggregates = await readAggregates(tx, ids, storedKeys, period, selection.customAggregations)
  const bucketKeys = rows.map(({ key }) => key)
  const totals: ChannelTotals[] = []
  for (const { channel_id: channelId, windowSeconds } of channels) {
    totals.push({
      rows: await readBucketTotals(
        tx,
        { channel_id: channelId, windowSeconds, selection, period, buckets },
        bucketKeys,
      ),
      // `readAggregates` returns an entry for each channel.
      total: computeTotals(aggregates.get(channelId)!, selection, period.to, windowSeconds),
    })
  }
  return { buckets: rows, channels: totals }
}

interface ComparedTotals {
  buckets: readonly ReportBucket[]
  current: ChannelTotals
  /** Undefined for a report without a comparison. */
  previous: ChannelTotals | undefined
}

/** Creates a table with a row for each bucket. The rows of the previous period may be fewer. */
function createTable(
  { keys, customAggregations }: StatisticSelection,
  { buckets, current, previous }: ComparedTotals,
): ReportTable {
  const toValues = (totals: Totals) => listValues(keys, totals, customAggregations)
  return {
    rows: buckets.map(({ firstDay, lastDay }, index): ReportRow => {
      const previousRow = previous?.rows[index]
      return {
        firstDay,
        lastDay,
        values: toValues(current.rows[index]!),
        ...(previousRow && { previous: toValues(previousRow) }),
      }
    }),
    total: toValues(current.total),
    ...(previous && { previousTotal: toValues(previous.total) }),
  }
}

/** Returns a value for each key. A mean of no values is unknown, and not zero. */
function listValues(
  keys: readonly string[],
  { amounts, counts }: Totals,
  customAggregations: Aggregations,
): ReportValues {
  return keys.map(key => {
    const isUnknown = getAggregation(key, customAggregations) === 'mean' && !counts[key]
    return isUnknown ? undefined : Number((amounts[key] ?? 0).toFixed(6))
  })
}

function createColumn(key: string, customAggregations: Aggregations): ReportColumn {
  const words = key.replaceAll('_', ' ')
  return {
    key,
    label: words.charAt(0).toUpperCase() + words.slice(1) + (UNITS[key] ?? ''),
    isSum: getAggregation(key, customAggregations) === 'sum',
  }
}
