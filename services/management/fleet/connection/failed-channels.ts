import { and, eq, isNotNull } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { channel, channelState } from '../../db/schema/index.ts'

/** Returns the failed channels that are configured for automatic recovery. */
export async function findFailedChannels(database: Database, engineId: string): Promise<string[]> {
  const rows = await database.system('follow an engine', tx =>
    tx
      .select({ channel_id: channel.channel_id })
      .from(channel)
      .innerJoin(channelState, eq(channelState.channel_id, channel.channel_id))
      .where(
        and(
          eq(channel.engine_id, engineId),
          eq(channel.is_auto_recovery, true),
          eq(channelState.status, 'failed'),
          isNotNull(channel.channel_sid),
        ),
      ),
  )
  return rows.map(({ channel_id }) => channel_id)
}
