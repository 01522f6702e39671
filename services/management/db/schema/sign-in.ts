import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { userId } from './user.ts'

/** A sign-in that is extended by refresh tokens, each of which is valid once. */
export const session = pgTable(
  'session',
  {
    session_id: key().primaryKey(),
    user_id: userId(),
    /** SHA-256 of the part that all refresh tokens of the session share, and of the part of the current token. */
    family_hash: text().notNull().unique(),
    refresh_hash: text().notNull(),
    address: optionalText(),
    user_agent: optionalText(),
    created_at: createdAt(),
    used_at: createdAt(),
    expires_at: instant().notNull(),
    revoked_at: instant(),
  },
  table => [index('session_by_user').on(table.user_id)],
)

/** A token for programs, with the rights of its user restricted by scopes. */
export const apiToken = pgTable(
  'api_token',
  {
    token_id: key().primaryKey(),
    user_id: userId(),
    name: text().notNull(),
    scopes: text().array().notNull(),
    secret_hash: text().notNull().unique(),
    created_at: createdAt(),
    used_at: instant(),
    expires_at: instant(),
  },
  table => [index('api_token_by_user').on(table.user_id)],
)

/** Failed sign-ins since the last success, by account and by address. */
export const signInFailure = pgTable('sign_in_failure', {
  /** `account:<email>` or `address:<ip>`. */
  subject: text().primaryKey(),
  failures: integer().notNull(),
  last_at: instant().notNull(),
  blocked_until: instant(),
})
