import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, instant, key } from './columns.ts'

/** A token with which engines register themselves. */
export const joinToken = pgTable('join_token', {
  join_token_id: key().primaryKey(),
  name: text().notNull(),
  /** SHA-256 of the token. */
  secret_hash: text().notNull().unique(),
  /** The sites that the engines serve. Empty: all. */
  site_ids: uuid().array().notNull().default([]),
  created_at: createdAt(),
  expires_at: instant(),
  /** When an engine has last registered itself with the token. */
  used_at: instant(),
})
