import type { FeedKind } from '@eyrie/contract/management/feed'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'

/** The record that decides who sees a message. */
export type FeedSubject = { channel_id: string } | { source_id: string } | { engine_id: string }

/**
 * A message of the live feed. Triggers publish everything except counts, which are published here.
 */
export type NewFeedMessage = FeedSubject & {
  kind: FeedKind
  /** Must be representable as JSON. */
  data: Readonly<Record<string, unknown>>
}

/**
 * Publishes messages in the live feed when the transaction commits. The caller may have
 * the rights of any user.
 */
export async function publishMessages(
  tx: Transaction,
  messages: readonly NewFeedMessage[],
): Promise<void> {
  if (messages.length === 0) return
  await tx.execute(sql`
    select publish_live_message(kind, channel_id, source_id, engine_id, data)
    from json_to_recordset(${JSON.stringify(messages)}::text::json)
      as m (kind text, channel_id uuid, source_id uuid, engine_id uuid, data jsonb)`)
}

/** Announces to the scheduler that records or settings that it publishes have changed. */
export async function announceInventory(tx: Transaction): Promise<void> {
  await tx.execute(sql`select publish_live_message('inventory', null, null, null, '{}')`)
}
