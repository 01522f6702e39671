import { and, eq, inArray, type SQL } from 'drizzle-orm'
import { channel, usecase } from '../db/schema/index.ts'

/** The channels of a report. */
export interface ChannelSelection {
  /** Undefined for the channels of any site that the caller may see. */
  site_id: string | undefined
  /** Empty for all channels of the site. */
  channelIds: readonly string[]
  /** Empty for all usecases. */
  usecaseKeys: readonly string[]
}

/** The condition for the channels of a report, in a query that joins `channel` and `usecase`. */
export const whereSelected = ({
  site_id: siteId,
  channelIds,
  usecaseKeys,
}: ChannelSelection): SQL | undefined =>
  and(
    siteId === undefined ? undefined : eq(channel.site_id, siteId),
    channelIds.length > 0 ? inArray(channel.channel_id, [...channelIds]) : undefined,
    usecaseKeys.length > 0 ? inArray(usecase.usecase_key, [...usecaseKeys]) : undefined,
  )
