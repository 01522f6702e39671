import { and, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, lease, usecase } from '../db/schema/index.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { completeUntil } from '../events/message-delay.ts'
import type { Period } from '../events/statistics/samples.ts'
import { type ChannelSelection, whereSelected } from './channel-selection.ts'

/**
 * Of a period that has not ended yet, messages of this time before now are not missed: they are
 * stored with a delay even if all is well.
 */
const MAX_NORMAL_DELAY_MS = 60_000

/**
 * Returns the ids of the reported channels of which messages about the period may be missing,
 * because their engine is unreachable or has not sent all of them yet. `now` is in epoch ms.
 */
export async function findIncompleteChannels(
  tx: Transaction,
  selection: ChannelSelection,
  { to }: Period,
  now: number,
): Promise<string[]> {
  const expectedUntil = to <= now ? to : now - MAX_NORMAL_DELAY_MS
  const rows = await tx
    .select({ channel_id: channel.channel_id })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .leftJoin(lease, eq(lease.subject, sql`${channel.engine_id}::text`))
    .where(and(whereSelected(selection), sql`${completeUntil} < ${toTimestamp(expectedUntil)}`))
  return rows.map(({ channel_id }) => channel_id)
}
