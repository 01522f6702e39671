import type { ReportInterval } from '@eyrie/contract/management/report'
import { eq, inArray } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { withFullScope } from '../db/full-scope.ts'
import { firstRow } from '../db/rows.ts'
import { channel, site } from '../db/schema/index.ts'
import { fieldError } from '../errors/field-errors.ts'
import type { Period } from '../events/statistics/samples.ts'
import { readChannelTimeZone } from '../inventory/usecases.ts'
import type { ChannelSelection } from './channel-selection.ts'
import { collectSections } from './collect-report.ts'
import { findIncompleteChannels } from './incomplete-channels.ts'
import type { Report } from './report.ts'
import { formatLocalDay, type ReportPeriod } from './report-period.ts'

/** The report that a client or a schedule requests. */
export interface ReportRequest extends ChannelSelection {
  /** Undefined: the name of the site. */
  title: string | undefined
  /**
   * Undefined for a report about channels whose site the caller may not see. It omits
   * the name of the site.
   */
  site_id: string | undefined
  /** Empty for all statistics of each usecase. */
  statisticKeys: readonly string[]
  interval: ReportInterval
  /** Whether the report contains the values of the previous period too. */
  isCompared: boolean
  /** Returns the period. It depends on the time zone of the site, because days and months do. */
  findPeriod(timeZone: string): ReportPeriod
}

/**
 * Creates a report with the rights of the transaction. The site must exist. `now` is in epoch ms.
 * Throws `EyrieError` (`syntax`) for channels of another site, for channels in several time zones,
 * and if the report would be too long.
 */
export async function createReport(
  tx: Transaction,
  request: ReportRequest,
  now: number,
): Promise<{ report: Report; period: ReportPeriod }> {
  const { siteName, timeZone } = await findPlace(tx, request)
  const period = request.findPeriod(timeZone)
  // Before the statistics are read: what is stored meanwhile may or may not be in them.
  const incompleteIds = await withFullScope(tx, () =>
    findIncompleteChannels(tx, request, period, now),
  )
  const selection = { ...request, period, timeZone, now, incompleteIds }
  const sections = await collectSections(tx, selection)
  const defaultTitle = siteName === '' ? 'Report' : `Report ${siteName}`
  const report: Report = {
    title: request.title ?? defaultTitle,
    siteName,
    timeZone,
    interval: request.interval,
    ...formatPeriod(period, timeZone),
    previous: request.isCompared ? formatPeriod(period.previous, timeZone) : undefined,
    createdAt: new Date(now),
    sections,
  }
  return { report, period }
}

/** Returns the first and the last day of a period. */
const formatPeriod = (
  { from, to }: Period,
  timeZone: string,
): { firstDay: string; lastDay: string } => ({
  firstDay: formatLocalDay(from, timeZone),
  // The end of a period is exclusive.
  lastDay: formatLocalDay(to - 1, timeZone),
})

/** What a report shows about its site. */
interface Place {
  /** Empty if the caller may not see the site. */
  siteName: string
  timeZone: string
}

async function findPlace(
  tx: Transaction,
  { site_id: siteId, channelIds }: ReportRequest,
): Promise<Place> {
  if (siteId === undefined) return findPlaceOfChannels(tx, channelIds)
  const row = firstRow(await tx.select().from(site).where(eq(site.site_id, siteId)))
  await assertChannelsOnSite(tx, channelIds, siteId)
  return { siteName: row.site_name, timeZone: row.site_timezone }
}

/** Returns the time zone of channels whose site the caller may not see. */
async function findPlaceOfChannels(tx: Transaction, channelIds: readonly string[]): Promise<Place> {
  const zones = new Set<string>()
  for (const channelId of channelIds) zones.add(await readChannelTimeZone(tx, channelId))
  if (zones.size > 1) {
    throw fieldError(
      'channel_ids',
      `the channels are in several time zones, ${[...zones].join(' and ')}: request one report for each site`,
    )
  }
  const [timeZone = 'UTC'] = zones
  return { siteName: '', timeZone }
}

/** Throws `EyrieError` (`syntax`) if one of the channels belongs to another site. */
export async function assertChannelsOnSite(
  tx: Transaction,
  channelIds: readonly string[],
  siteId: string,
): Promise<void> {
  if (channelIds.length === 0) return
  const rows = await tx
    .select({ channel_id: channel.channel_id, site_id: channel.site_id })
    .from(channel)
    .where(inArray(channel.channel_id, [...channelIds]))
  const outsider = rows.find(row => row.site_id !== siteId)
  if (outsider) {
    throw fieldError(
      `channel_ids.${channelIds.indexOf(outsider.channel_id)}`,
      'this channel belongs to another site',
    )
  }
}
