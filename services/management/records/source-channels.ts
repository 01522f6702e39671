import type { SourceChannel } from '@eyrie/contract/management/index'
import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/open.ts'
import { channel, channelState, source, usecase } from '../db/schema/index.ts'

const { usecase_id: _, ...ofUsecase } = getTableColumns(usecase)

/**
 * The channels that meet a condition on their columns, such as `inArray(channel.source_id, ids)`, with all that records
 * show of them: one query for however many. Those that the caller may not see are not among them.
 */
export const sourceChannels = (tx: Transaction, condition: SQL | undefined): Promise<SourceChannel[]> =>
  tx
    .select({
      ...getTableColumns(channel),
      ...ofUsecase,
      channel_sid: sql<string>`coalesce(${channel.channel_sid}::text, '')`,
      device_id: source.device_id,
      is_active: sql<boolean>`coalesce(${channelState.is_heard} and ${channelState.status} in ('running', 'degraded'), false)`,
      is_verified: sql<boolean>`coalesce(${channelState.is_verified}, false)`,
    })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .leftJoin(source, eq(source.source_id, channel.source_id))
    .leftJoin(channelState, eq(channelState.channel_id, channel.channel_id))
    .where(condition)
    .orderBy(asc(channel.channel_name), asc(channel.channel_id))
