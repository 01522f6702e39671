import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import type { CopyReceiver } from '../deliveries/outbox.ts'

const HOUR_MS = 3_600_000
/** The largest budget that a policy can have. */
const MAX_BUDGET = 1000

/** How many messages each receiver has got in the last hour, and may still get. */
export interface ReceiverBudgets {
  /**
   * Counts a message to a receiver, who may get `limit` messages in an hour. Returns undefined if
   * the message may be sent. If the limit is reached, counts nothing and returns the time at which
   * a message may be sent again.
   */
  claim(receiver: CopyReceiver, limit: number): Promise<Date | undefined>
}

export function createReceiverBudgets(tx: Transaction): ReceiverBudgets {
  /** Times of the messages of the last hour in epoch ms, newest first. */
  const sentTimes = new Map<string, number[]>()

  async function loadSentTimes(receiver: CopyReceiver): Promise<number[]> {
    const { target, recipient, push_subscription_id: browser } = receiver
    // Concurrent transactions must not use the same part of a budget. One lock for all
    // receivers prevents deadlocks.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie_receiver_budgets'))`)
    const rows = await tx.execute<{ ms: number }>(sql`
      select extract(epoch from created_at)::float8 * 1000 as ms
      from delivery
      where target = ${target}
        and recipient = ${recipient}
        and state <> 'suppressed'
        and kind <> 'test'
        -- A later time is that of a clock that was ahead.
        and created_at > now() - interval '1 hour'
        and created_at <= clock_timestamp()
        -- The browsers of a user get the same messages, so those of one browser are counted.
        ${browser === undefined ? sql`` : sql`and push_subscription_id = ${browser}`}
      order by created_at desc
      limit ${MAX_BUDGET}`)
    return rows.map(({ ms }) => ms)
  }

  return {
    async claim(receiver, limit) {
      const key = `${receiver.target} ${receiver.recipient}`
      const times = sentTimes.get(key) ?? (await loadSentTimes(receiver))
      sentTimes.set(key, times)
      // If there are `limit` messages, the next one may be sent an hour after the first of them.
      const oldest = times[limit - 1]
      if (oldest !== undefined) return new Date(oldest + HOUR_MS)
      times.unshift(Date.now())
      return undefined
    },
  }
}
