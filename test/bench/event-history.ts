import { sql } from 'drizzle-orm'
import type { Database } from '../../services/management/db/database.ts'
import { insertChannel, insertEngine } from '../fixtures/management/engine-messages.ts'

/**
 * A history of line crossings, of which the newest days have their events and all
 * days their roll-ups.
 */
export interface HistorySize {
  channels: number
  days: number
  eventsPerMinute: number
  /** Number of days whose events are stored. Queries of roll-ups read older events in no case. */
  daysWithEvents: number
}

const KEYS = ['up', 'down', 'total']

/** Inserts a history that ends now. Returns the ids of the channels. */
export async function insertEventHistory(database: Database, size: HistorySize): Promise<string[]> {
  const { channels, days, eventsPerMinute, daysWithEvents } = size
  const engine = await insertEngine(database)
  const ids: string[] = []
  for (let channelSid = 1; channelSid <= channels; channelSid += 1) {
    ids.push(await insertChannel(database, engine, 'line-crossing', { channel_sid: channelSid }))
  }

  for (const [index, channelId] of ids.entries()) {
    await database.system('bench', async tx => {
      await tx.execute(sql`set local statement_timeout = 0`)
      await tx.execute(sql`
        insert into statistic_minute (channel_id, key, minute, sum, count, last, last_at)
        select ${channelId}::uuid, key, minute, ${eventsPerMinute}::float8, ${eventsPerMinute}::bigint, 1,
          minute + interval '59 seconds'
        from unnest(${`{${KEYS.join(',')}}`}::text[]) key, generate_series(
          date_trunc('minute', now() - ${days}::int * interval '1 day'), date_trunc('minute', now()), interval '1 minute') minute`)
      await tx.execute(sql`
        insert into statistic_hour (channel_id, key, hour, sum, count, last, last_at)
        select channel_id, key, date_trunc('hour', minute), sum(sum), sum(count), 1, max(last_at)
        from statistic_minute where channel_id = ${channelId}::uuid group by 1, 2, 3`)
      await tx.execute(sql`
        insert into event (engine_id, log_id, seq, time, channel_id, kind, type, pts, epoch, data, statistics)
        select ${engine.engine_id}::uuid, 'bench', n + ${index}::bigint * 1000000000,
          now() - n * ${60 / eventsPerMinute}::float8 * interval '1 second', ${channelId}::uuid, 'event', 'line-crossing', n, 1,
          json_build_object('type', 'line-crossing', 'name', 'door', 'direction', 'up', 'track', n / 2)::jsonb,
          '{"up": 1, "total": 1}'
        from generate_series(0, ${daysWithEvents * 1440 * eventsPerMinute}::int) n`)
    })
  }
  return ids
}
