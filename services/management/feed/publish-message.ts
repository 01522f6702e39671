import type { FeedKind } from '@eyrie/contract/management/feed'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'

/** The record that decides who sees a message. */
export type FeedSubject = { channel_id: string } | { source_id: string } | { engine_id: string }

/** A message of the live feed. Triggers publish everything except counts, which are published here. */
export type NewFeedMessage = FeedSubject & {
  kind: FeedKind
  /** Must be representable as JSON. */
  data: Readonly<Record<string, unknown>>
}

/** Publishes a message in the live feed when the transaction commits. The caller may have the rights of any user. */
export async function publishMessage(
  tx: Transaction,
  { kind, data, ...subject }: NewFeedMessage,
): Promise<void> {
  const {
    channel_id = null,
    source_id = null,
    engine_id = null,
  } = subject as Partial<Record<'channel_id' | 'source_id' | 'engine_id', string>>
  await tx.execute(sql`
    select publish_live_message(${kind}, ${channel_id}::uuid, ${source_id}::uuid, ${engine_id}::uuid,
      ${JSON.stringify(data)}::text::jsonb)`)
}

/** Announces to the scheduler that records or settings that it publishes have changed. */
export async function announceInventory(tx: Transaction): Promise<void> {
  await tx.execute(sql`select publish_live_message('inventory', null, null, null, '{}')`)
}
