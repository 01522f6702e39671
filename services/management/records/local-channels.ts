import { sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { channel } from '../db/schema/index.ts'
import type { Principal } from '../rights/principal.ts'
import { localEngineId } from './local-engine.ts'

/** Ids on this box's engine of the channels that a user sees. */
export async function localChannels(database: Database, caller: Principal): Promise<ReadonlySet<number>> {
  const engine_id = await database.system('live views', localEngineId)
  if (engine_id === undefined) return new Set()
  const rows = await database.as(caller, 'live views', tx =>
    tx
      .select({ sid: sql<number>`${channel.channel_sid}` })
      .from(channel)
      .where(sql`${channel.engine_id} = ${engine_id} and ${channel.channel_sid} is not null`),
  )
  return new Set(rows.map(({ sid }) => sid))
}
