import { sql } from 'drizzle-orm'
import { lease } from '../db/schema/index.ts'

/**
 * Messages arrive some time after their frames. All messages about a moment have probably arrived
 * this long after it.
 */
export const MESSAGE_DELAY_MS = 2000

/**
 * In SQL, the time until which all messages of the engine of a lease are stored. It is before all
 * times if it is unknown.
 */
export const completeUntil = sql`
  coalesce(${lease.stored_until}, '-infinity') - ${MESSAGE_DELAY_MS} * interval '1 ms'`
