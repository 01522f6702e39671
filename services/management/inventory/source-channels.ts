import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, channelState, source, usecase } from '../db/schema/index.ts'

const { created_at: _created, ...channelColumns } = getTableColumns(channel)
const { usecase_key, usecase_name, usecase_icon, usecase_meta_key } = usecase
const usecaseColumns = { usecase_key, usecase_name, usecase_icon, usecase_meta_key }

/**
 * The columns of a channel in API responses, which include the usecase, the source and the
 * state. `channel_sid` is the id that the engine has assigned. `is_active` says that the channel
 * runs on a connected engine.
 */
export const sourceChannelColumns = {
  ...channelColumns,
  ...usecaseColumns,
  channel_sid: sql<string>`coalesce(${channel.channel_sid}::text, '')`,
  device_id: source.device_id,
  is_active: sql<boolean>`coalesce(
    ${channelState.is_heard}
    and ${channelState.status} in ('running', 'degraded'),
    false
  )`,
  is_verified: sql<boolean>`coalesce(${channelState.is_verified}, false)`,
}

/**
 * Returns the channels that satisfy a condition on channel or source and are visible to the caller.
 */
export const findSourceChannels = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select(sourceChannelColumns)
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .leftJoin(source, eq(source.source_id, channel.source_id))
    .leftJoin(channelState, eq(channelState.channel_id, channel.channel_id))
    .where(condition)
    .orderBy(asc(channel.channel_name), asc(channel.channel_id))
