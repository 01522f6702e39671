import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { textArray, toTimestamp, uuidArray } from '../../db/sql-values.ts'
import { completeUntil } from '../../events/message-delay.ts'
import type { ReportPeriod } from '../report-period.ts'
import type { ScheduledReport } from './scheduled-report.ts'

/**
 * Returns the ids of the reported channels of which messages about the period may be missing,
 * because their engine is unreachable or has not sent all of them yet.
 */
export async function findIncompleteChannels(
  tx: Transaction,
  { site_id: siteId, channel_ids: channelIds, usecase_keys: usecaseKeys }: ScheduledReport,
  { to }: ReportPeriod,
): Promise<string[]> {
  const rows = await tx.execute<{ channel_id: string }>(sql`
    select channel.channel_id
    from channel
    join usecase on usecase.usecase_id = channel.usecase_id
    left join lease on lease.subject = channel.engine_id::text
    where channel.site_id = ${siteId}
      and (${channelIds.length === 0} or channel.channel_id = any (${uuidArray(channelIds)}))
      and (${usecaseKeys.length === 0} or usecase.usecase_key = any (${textArray(usecaseKeys)}))
      and ${completeUntil} < ${toTimestamp(to)}`)
  return rows.map(({ channel_id }) => channel_id)
}
